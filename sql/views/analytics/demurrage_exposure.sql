-- What overdue containers cost
--
-- One row per container past its last free day, as known at as_of(): still in (overdue) or gone
-- (out late); see last_free_days for the day, the zone and what counts as out.
--
-- days_over: calendar days at the place past the last free day, to today or to the day it went out;
-- the day after the last free day is day 1, the day of going out counts.
--
-- Fees are those listed now, of any type, by currency; currencies are never added together. Where
-- single fees of a currency are listed they are added up and its `total` line is left out, because
-- it sums them; where there is only a `total` line, that is the amount. fee_amount and
-- fee_currency_code repeat it where there is exactly one currency, which is nearly always. A fee
-- without a currency is in the terminal's own, shown as `local`. Terminals list no fees any more
-- soon after a container left, so for those out late no fee does not mean that none was charged.
--
-- The estimate is the sum, over each day over, of the daily rate of demurrage_tariffs that holds
-- for it: terminal, shipping line, equipment, day over within from_day..to_day, last free day
-- within valid_from..valid_to. Of several lines that hold for a day the most specific counts: the
-- one that names more of terminal, shipping line, equipment type, equipment length; of equally many
-- the one with the terminal, then the shipping line, then the equipment type, then the newest line.
-- days_without_rate: days over with no line.
-- It stands beside the fees and is never added to them. Null where no line holds for any day.
--
-- Cost: tariffs are looked up container by container, each time all their lines.

create view {{analytics}}.demurrage_exposure as
with

overdue as (

    select
        day.container_id,
        day.shipment_id,
        day.pod_terminal_id,
        day.container_number,
        day.bill_of_lading_number,
        day.shipping_line_scac,
        day.pod_terminal,
        day.equipment_type,
        day.equipment_length,
        day.state,
        day.ruling_source,
        day.tracking_stopped_reason,
        coalesce(day.out_on, day.today_on) - day.last_free_on as days_over,
        day.is_zone_known,
        day.last_free_on,
        day.out_on
    from {{analytics}}.last_free_days as day
    where day.state in ('overdue', 'out late')

),

-- Every fee with the amount of its currency. A window and not a grouping: behind a grouping the
-- planner takes it that 200 containers have fees, whatever their number, and may compare each
-- container with all of them.
fees_by_currency as (

    select
        fee.container_id,
        coalesce(fee.currency_code, 'local') as currency_code,
        coalesce(
            sum(fee.amount) filter (where not fee.is_total) over by_currency,
            sum(fee.amount) filter (where fee.is_total) over by_currency
        ) as amount
    from {{analytics}}.known_fees as fee
    where fee.amount is not null
    window by_currency as (partition by fee.container_id, coalesce(fee.currency_code, 'local'))

),

fees as (

    select
        fee.container_id,
        jsonb_object_agg(fee.currency_code, fee.amount) as fees_by_currency,
        case when count(distinct fee.currency_code) = 1 then min(fee.amount) end as fee_amount,
        case
            when count(distinct fee.currency_code) = 1 then min(fee.currency_code)
        end as fee_currency_code
    from fees_by_currency as fee
    group by fee.container_id

)

select
    stay.container_id,
    stay.shipment_id,
    stay.pod_terminal_id,
    stay.container_number,
    stay.bill_of_lading_number,
    stay.shipping_line_scac,
    stay.pod_terminal,
    stay.equipment_type,
    stay.equipment_length,
    stay.state,
    stay.ruling_source,
    stay.tracking_stopped_reason,
    stay.days_over,
    fee.fees_by_currency,
    fee.fee_amount,
    fee.fee_currency_code,
    estimate.estimates_by_currency,
    estimate.estimate_amount,
    estimate.estimate_currency_code,
    case
        when estimate.days is not null then stay.days_over - estimate.days
    end as days_without_rate,
    stay.is_zone_known,
    stay.last_free_on,
    stay.out_on
from overdue as stay
left join fees as fee
    on fee.container_id = stay.container_id
left join lateral (

    select
        jsonb_object_agg(by_currency.currency_code, by_currency.amount) as estimates_by_currency,
        case when count(*) = 1 then min(by_currency.amount) end as estimate_amount,
        case when count(*) = 1 then min(by_currency.currency_code) end as estimate_currency_code,
        sum(by_currency.days)::integer as days
    from (
        select
            rate.currency_code,
            sum(rate.daily_rate) as amount,
            count(*) as days
        from (
            select distinct on (charged.day_over)
                tariff.currency_code,
                tariff.daily_rate
            from {{analytics}}.demurrage_tariffs as tariff
            cross join generate_series(
                tariff.from_day,
                least(tariff.to_day, stay.days_over)
            ) as charged (day_over)
            where (tariff.terminal_id is null or tariff.terminal_id = stay.pod_terminal_id)
                and (
                    tariff.shipping_line_scac is null
                    or tariff.shipping_line_scac = stay.shipping_line_scac
                )
                and (
                    tariff.equipment_type is null
                    or tariff.equipment_type = stay.equipment_type
                )
                and (
                    tariff.equipment_length is null
                    or tariff.equipment_length = stay.equipment_length
                )
                and (tariff.valid_from is null or tariff.valid_from <= stay.last_free_on)
                and (tariff.valid_to is null or tariff.valid_to >= stay.last_free_on)
            order by
                charged.day_over,
                num_nonnulls(
                    tariff.terminal_id,
                    tariff.shipping_line_scac,
                    tariff.equipment_type,
                    tariff.equipment_length
                ) desc,
                tariff.terminal_id is null,
                tariff.shipping_line_scac is null,
                tariff.equipment_type is null,
                tariff.demurrage_tariff_id desc
        ) as rate
        group by rate.currency_code
    ) as by_currency

) as estimate
    on true;

comment on view {{analytics}}.demurrage_exposure is
    'One row per container past its last free day, in or out, as known at as_of(): days over, '
    'fees listed, and an estimate from demurrage_tariffs.';
comment on column {{analytics}}.demurrage_exposure.container_id is
    'The service''s id of the container.';
comment on column {{analytics}}.demurrage_exposure.shipment_id is
    'Shipment; shipments.';
comment on column {{analytics}}.demurrage_exposure.pod_terminal_id is
    'Terminal at the port of discharge; terminals.';
comment on column {{analytics}}.demurrage_exposure.container_number is
    'Container number; used again on later journeys.';
comment on column {{analytics}}.demurrage_exposure.bill_of_lading_number is
    'Bill of lading number of the shipment.';
comment on column {{analytics}}.demurrage_exposure.shipping_line_scac is
    'SCAC of the shipping line.';
comment on column {{analytics}}.demurrage_exposure.pod_terminal is
    'Terminal at the port of discharge: short name, else name.';
comment on column {{analytics}}.demurrage_exposure.equipment_type is
    'dry, reefer, open top, flat rack, bulk, tank; other values are kept.';
comment on column {{analytics}}.demurrage_exposure.equipment_length is
    'Length in feet.';
comment on column {{analytics}}.demurrage_exposure.state is
    'overdue (still in) or out late.';
comment on column {{analytics}}.demurrage_exposure.ruling_source is
    'Whose last free day the service took: line, terminal, rail, other.';
comment on column {{analytics}}.demurrage_exposure.tracking_stopped_reason is
    'Why the service stopped asking the shipping line; null while it asks. An overdue one may '
    'then be out without anybody telling us.';
comment on column {{analytics}}.demurrage_exposure.days_over is
    'Calendar days at the place past the last free day; the day after it is 1.';
comment on column {{analytics}}.demurrage_exposure.fees_by_currency is
    'Fees listed now: amount by ISO 4217 code, `local` where the currency was not said. Null: '
    'none listed.';
comment on column {{analytics}}.demurrage_exposure.fee_amount is
    'Fees listed now, where they are in one currency; null otherwise.';
comment on column {{analytics}}.demurrage_exposure.fee_currency_code is
    'ISO 4217 code of fee_amount, or `local`.';
comment on column {{analytics}}.demurrage_exposure.estimates_by_currency is
    'What demurrage_tariffs come to for the days over: amount by ISO 4217 code. Null: no line '
    'holds.';
comment on column {{analytics}}.demurrage_exposure.estimate_amount is
    'The estimate, where it is in one currency; null otherwise.';
comment on column {{analytics}}.demurrage_exposure.estimate_currency_code is
    'ISO 4217 code of estimate_amount.';
comment on column {{analytics}}.demurrage_exposure.days_without_rate is
    'Days over that no line of demurrage_tariffs holds for; null where there is no estimate.';
comment on column {{analytics}}.demurrage_exposure.is_zone_known is
    'Whether the zone of the last free day is known; false: days are those of UTC.';
comment on column {{analytics}}.demurrage_exposure.last_free_on is
    'Last free day as the service coalesces it. Calendar day at the place.';
comment on column {{analytics}}.demurrage_exposure.out_on is
    'Day it went out. Calendar day at the place; null while it is in.';
