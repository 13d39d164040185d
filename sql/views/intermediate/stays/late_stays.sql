-- Stays past their last free day, with the span of their days
--
-- One row per container and stay that is or was past its binding day, as known at as_of(): overdue
-- or out_late of demurrage_exposure. The base of why_late, which counts its days by cause.
--
-- first_on, last_on: its days from the start, or from the first day over where the start is not
-- known or lies after it, to today or to the day it left. left_at: the true instant at which it
-- left; null while it is there, or without a zone of the place, as nobody can tell it then.
-- is_for_train: it waits, or waited, at the port for its train.
-- cost_amount: fees listed now, else the estimate by the rules, of exactly one currency, never both
-- together. Null: neither is known.

create view {{parts}}.late_stays as
select
    late.container_id,
    late.shipment_id,
    late.pod_terminal_id,
    late.container_number,
    late.bill_of_lading_number,
    late.shipping_line_scac,
    late.pod_terminal,
    late.place,
    late.customer_name,
    late.ref_numbers_text,
    late.tags_text,
    late.custom_fields,
    late.state,
    late.days_over,
    coalesce(late.fee_amount, late.estimate_amount) as cost_amount,
    case
        when late.fee_amount is not null then late.fee_currency_code
        else late.estimate_currency_code
    end as cost_currency_code,
    late.place = 'port' and late.mode = 'rail' as is_for_train,
    late.time_zone,
    late.wall_zone,
    late.binding_on,
    late.started_on,
    late.out_on,
    least(late.started_on, late.binding_on + 1) as first_on,
    coalesce(late.out_on, late.today_on) as last_on,
    -- Without a zone the service sends wall time as if it were of UTC.
    (late.end_at at time zone late.wall_zone) at time zone late.time_zone as left_at
from {{analytics}}.demurrage_exposure as late
where late.state <> 'unknown';
