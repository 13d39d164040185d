-- Changes, for better or worse
--
-- One row per live container and change that we learned of: of the ETA at the port or the ramp, a
-- last free day, the availability, a hold, a fee, the pickup appointment, the vessel, the terminal
-- or a milestone. Values that our first look at the container found already are not changes. Narrow
-- it by --since: learned_at is when we first saw the new value, on the clock of the service.
-- Between two looks the value may have changed more than once. Changes learned after as_of() are
-- left out.
--
-- from_value and to_value are the values in words: an instant as wall time at the place to the
-- minute (as sent, where the zone is missing; in UTC and marked so, where PostgreSQL does not know
-- the zone), a day, a status, an amount with its currency. Null: not reported. shift_hours,
-- shift_days and change_amount are the difference, if both values are known; amounts only within
-- one currency.
--
-- effect, for the importer:
--   ETA, appointment     better: earlier, made or given again; worse: later or taken back; a first
--                        ETA at the ramp is neither
--   last free day        better: later; worse: earlier; set, withdrawn and another zone of the same
--                        instant are neither
--   availability         better: became available; worse: no longer available; else neither
--   hold                 worse: placed, or pending and now a hold; better: cleared, or a hold and
--                        now pending; an edited text is neither
--   fee                  worse: listed or more; better: removed or less
--   milestone            better: reported, or found to be earlier; worse: later or taken back
--   vessel, terminal     neither: the ETA shows the effect
--
-- The ETA at the port and the vessel are those of the shipment that the container belongs to now;
-- one change of them is a row for each of its containers. A line that is the total of fees repeats
-- the others. Another name of the same vessel (with the same IMO number) is not a change.
--
-- Cost: every history is compared with itself. Holds, fees and last free days are read as
-- timeline has them, ETAs as eta_changes has them.

create view {{analytics}}.changes as
with

found as (

    select
        container.container_id,
        'ETA' as change,
        'port' as subject,
        coalesce(
            to_char(eta.from_eta_local, 'YYYY-MM-DD HH24:MI'),
            to_char(eta.from_eta_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI "UTC"')
        ) as from_value,
        coalesce(
            to_char(eta.to_eta_local, 'YYYY-MM-DD HH24:MI'),
            to_char(eta.to_eta_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI "UTC"')
        ) as to_value,
        case
            when eta.kind = 'withdrawn' or eta.slip_hours > 0 then 'worse'
            when eta.kind = 'given again' or eta.slip_hours < 0 then 'better'
        end as effect,
        eta.slip_hours as shift_hours,
        null::integer as shift_days,
        null::numeric as change_amount,
        null as change_currency_code,
        eta.source,
        eta.changed_at as learned_at
    from {{analytics}}.eta_changes as eta
    inner join {{parts}}.known_containers as container
        on container.shipment_id = eta.shipment_id

    union all

    select
        container.container_id,
        'vessel' as change,
        null as subject,
        coalesce(earlier.pod_vessel_name, earlier.pod_vessel_imo) as from_value,
        coalesce(later.pod_vessel_name, later.pod_vessel_imo) as to_value,
        null as effect,
        null as shift_hours,
        null as shift_days,
        null as change_amount,
        null as change_currency_code,
        later.source,
        later.valid_from as learned_at
    from {{data}}.shipment_history as later
    -- Equal, said as a range: see eta_changes.
    inner join {{data}}.shipment_history as earlier
        on earlier.shipment_id = later.shipment_id
        and later.valid_from between earlier.valid_to and earlier.valid_to
    inner join {{parts}}.known_containers as container
        on container.shipment_id = later.shipment_id
    where later.valid_from <= {{analytics}}.as_of()
        and case
            when earlier.pod_vessel_imo is not null and later.pod_vessel_imo is not null
                then earlier.pod_vessel_imo <> later.pod_vessel_imo
            else upper(btrim(earlier.pod_vessel_name))
                is distinct from upper(btrim(later.pod_vessel_name))
        end

    union all

    select
        own.container_id,
        own.change,
        own.subject,
        own.from_value,
        own.to_value,
        own.effect,
        own.shift_hours,
        null as shift_days,
        null as change_amount,
        null as change_currency_code,
        own.source,
        own.learned_at
    from {{parts}}.attribute_changes as own

    union all

    select
        listed.container_id,
        listed.change,
        listed.subject,
        listed.from_value,
        listed.to_value,
        listed.effect,
        null as shift_hours,
        listed.shift_days,
        listed.change_amount,
        listed.change_currency_code,
        listed.source,
        listed.learned_at
    from {{parts}}.list_changes as listed

)

select
    found.container_id,
    container.shipment_id,
    container.pod_terminal_id,
    container.number as container_number,
    shipment.bill_of_lading_number,
    shipment.shipping_line_scac,
    customer.customer_name,
    customer.ref_numbers_text,
    customer.tags_text,
    customer.custom_fields,
    found.change,
    found.subject,
    found.from_value,
    found.to_value,
    found.effect,
    found.shift_hours,
    found.shift_days,
    found.change_amount,
    found.change_currency_code,
    found.source,
    found.learned_at,
    found.change_currency_code as currency_code
from found
-- Not an inner join, and a condition that does not make it one: if PostgreSQL expects few
-- containers, it would compute all changes again for each of them.
left join {{parts}}.known_containers as container
    on container.container_id = found.container_id
-- Shipments are looked up one by one: without statistics PostgreSQL expects few shipments, and
-- would read all of them for each change.
left join lateral (

    select
        known.bill_of_lading_number,
        known.shipping_line_scac,
        known.customer_name,
        known.ref_numbers
    from {{parts}}.known_shipments as known
    where known.shipment_id = container.shipment_id
    limit 1

) as shipment
    on true
left join {{analytics}}.container_customers as customer
    on customer.container_id = found.container_id
where coalesce(container.container_id, '') <> '';
