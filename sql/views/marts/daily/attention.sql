-- Exceptions that need attention
--
-- One row per live container and exception that is open at as_of(); a container can have several.
--
-- exception, and when it is open:
--   overdue             it is still there after the binding day of its stay, reported or by a
--                       rule of free_time_rules (container_stays)
--   last_free_day_near  the binding day is today or within two days, and it is not ready: not
--                       reported as available, or blocked by a hold
--   appointment_late    its appointment at the port is after the binding day
--   appointment_missed  its appointment at the port has passed, and it is still there
--   day_unknown         it is there, and its last free day or the zone of the place is unreadable
--   long_there          it lacks a last free day and has been there longer than four in five
--                       others; at the port trucks are compared with trucks, trains with trains
--   hold_new            a hold that is not pending was first seen in the last 24 hours and is open
--   hold_cleared        a hold that was not pending was seen gone in the last 24 hours, no such
--                       hold is open where it is, and the container has not left the place
--   eta_slipped         the ETA at the port of discharge is more than 24 hours later than it was
--                       known to be 24 hours ago
--   eta_passed          the ETA has passed and the arrival was not reported
--   left_behind         its shipment arrived more than two days ago, and nothing says that the
--                       container itself did
--   rolled              vessel or voyage to the port of discharge differs from the one three days
--                       ago (see eta_changes)
--   rail_silent         it left by rail, has not arrived at the ramp, and the last news of it is
--                       three days old
--   no_news             it left the port of lading, or should have, has not gone out, and the last
--                       news of it is 21 days old, longer than most crossings
--   empty_not_returned  its empty is not back, and the free days of the detention rule are over;
--                       without a rule: ten days after it was picked up
--   tracking_stopped    the service no longer tracks it although it has not gone out, unless the
--                       booking was cancelled
-- After tracking has stopped only tracking_stopped, the terminal's holds, and what the terminal
-- would tell (is_untold of container_stays) are open, because nobody would report the end of the
-- others.
--
-- since_at: when it began: the midnight after the last free day at the place, the first sight of
-- the hold, the appointment missed, the passed ETA, the arrival of the shipment, the last news
-- (else the creation of the container), the tenth day; for last_free_day_near, appointment_late,
-- day_unknown and long_there the start of the stay; for eta_slipped and rolled the instant compared
-- with. hours run from there to as_of().
-- severity: high costs money or soon will (overdue, last_free_day_near, appointment_late, and
-- empty_not_returned by a rule); low is information (hold_cleared, no_news); medium the others,
-- which break a plan.
-- cost_amount: for overdue the fees or the estimate of demurrage_exposure, for empty_not_returned
-- the detention by the rules so far. A day of a charge is in one row, so the amounts of a currency
-- can be added.
--
-- Cost: the view reads six views, and charge_clocks if there are rules; narrow it by line, terminal
-- or container, or leave out the cost columns, which read demurrage_exposure.

create view {{analytics}}.attention as
with

found as (

    select
        container_id,
        shipment_id,
        pod_terminal_id,
        container_number,
        bill_of_lading_number,
        shipping_line_scac,
        place,
        exception,
        sentence,
        since_at,
        null::numeric as amount,
        null as currency_code,
        false as is_charged
    from {{parts}}.stay_exceptions

    union all

    select
        container_id,
        shipment_id,
        pod_terminal_id,
        container_number,
        bill_of_lading_number,
        shipping_line_scac,
        place,
        exception,
        sentence,
        since_at,
        null as amount,
        null as currency_code,
        false as is_charged
    from {{parts}}.journey_exceptions

    union all

    select
        container_id,
        shipment_id,
        pod_terminal_id,
        container_number,
        bill_of_lading_number,
        shipping_line_scac,
        place,
        exception,
        sentence,
        since_at,
        null as amount,
        null as currency_code,
        false as is_charged
    from {{parts}}.hold_exceptions

    union all

    select
        container_id,
        shipment_id,
        pod_terminal_id,
        container_number,
        bill_of_lading_number,
        shipping_line_scac,
        place,
        exception,
        sentence,
        since_at,
        amount,
        currency_code,
        is_charged
    from {{parts}}.empty_exceptions

)

select
    found.container_id,
    found.shipment_id,
    found.pod_terminal_id,
    found.container_number,
    found.bill_of_lading_number,
    found.shipping_line_scac,
    customer.customer_name,
    customer.ref_numbers_text,
    customer.tags_text,
    customer.custom_fields,
    found.exception,
    case
        when found.is_charged
            or found.exception in ('overdue', 'last_free_day_near', 'appointment_late')
            then 'high'
        when found.exception in ('hold_cleared', 'no_news') then 'low'
        else 'medium'
    end as severity,
    found.sentence,
    round(extract(epoch from {{analytics}}.as_of() - found.since_at) / 3600, 1) as hours,
    coalesce(exposure.fee_amount, exposure.estimate_amount, found.amount) as cost_amount,
    case
        when exposure.fee_amount is not null then exposure.fee_currency_code
        when exposure.estimate_amount is not null then exposure.estimate_currency_code
        else found.currency_code
    end as cost_currency_code,
    found.since_at,
    case
        when exposure.fee_amount is not null then exposure.fee_currency_code
        when exposure.estimate_amount is not null then exposure.estimate_currency_code
        else found.currency_code
    end as currency_code
from found
-- Looked up one by one: most exposed containers have left, and are not exceptions.
left join lateral (

    select
        cost.fee_amount,
        cost.fee_currency_code,
        cost.estimate_amount,
        cost.estimate_currency_code
    from {{analytics}}.demurrage_exposure as cost
    where found.exception = 'overdue'
        and cost.container_id = found.container_id
        and cost.place = found.place
    offset 0

) as exposure
    on true
left join {{analytics}}.container_customers as customer
    on customer.container_id = found.container_id;
