-- How long holds lasted
--
-- One row per interval in which a hold on a live container had one status. A hold that was
-- announced (pending) and then placed (hold) has two rows. A hold whose text was edited has one
-- row: an edit does not clear it. If one look shows fewer new texts than removed ones of the same
-- name, the holds that kept their text longest count as edited. description is the last text known
-- at as_of(); container_hold_history keeps them all.
--
-- placed_at and cleared_at are when we first saw the hold and first saw it gone, so an interval is
-- exact to the time between two looks. Open holds (is_open) run to as_of(); their cleared_at is
-- null. is_start_known is false if our first look at the container found the hold already: it began
-- before, so hours is a lower bound; leave such intervals out of averages. Holds first seen after
-- as_of() are left out; holds cleared after it count as open. The terminal is that of the port of
-- discharge, which the container has now.

create view {{analytics}}.hold_durations as
with

versions as not materialized (

    select
        hold.container_id,
        hold.hold_key,
        hold.place,
        hold.name,
        hold.status,
        hold.description,
        hold.source,
        hold.valid_from,
        hold.valid_to
    from {{data}}.container_hold_history as hold
    where hold.valid_from <= {{analytics}}.as_of()

),

-- The oldest version that ends and the first that begins in one look, of one name and status, are
-- one hold whose text was edited; then the next, and so on. Counted only where one follows.
edits as not materialized (

    select
        ended.container_id,
        ended.hold_key as from_key,
        begun.hold_key as to_key,
        begun.valid_from as edited_at,
        begun.description,
        begun.valid_to
    from versions as ended
    inner join versions as begun
        on begun.container_id = ended.container_id
        and begun.valid_from = ended.valid_to
        and begun.place = ended.place
        and begun.name is not distinct from ended.name
        and begun.status is not distinct from ended.status
    where (
            select count(*)
            from versions as other
            where other.container_id = ended.container_id
                and other.valid_to = ended.valid_to
                and other.place = ended.place
                and other.name is not distinct from ended.name
                and other.status is not distinct from ended.status
                and (other.valid_from, other.hold_key) <= (ended.valid_from, ended.hold_key)
        ) = (
            select count(*)
            from versions as other
            where other.container_id = begun.container_id
                and other.valid_from = begun.valid_from
                and other.place = begun.place
                and other.name is not distinct from begun.name
                and other.status is not distinct from begun.status
                and other.hold_key <= begun.hold_key
        )

),

intervals as not materialized (

    select
        version.container_id,
        version.hold_key,
        version.place,
        version.name,
        version.status,
        case when later.container_id is null then version.description else last.description end
            as description,
        version.source,
        version.valid_from as placed_at,
        case when later.container_id is null then version.valid_to else last.valid_to end
            as gone_at
    from versions as version
    -- Looked up one by one: PostgreSQL expects no edit at all, and would compare each version with
    -- all of them.
    left join lateral (

        select edit.container_id
        from edits as edit
        where edit.container_id = version.container_id
            and edit.to_key = version.hold_key
            and edit.edited_at = version.valid_from
        limit 1

    ) as earlier
        on true
    left join lateral (

        select
            edit.container_id,
            edit.to_key,
            edit.description,
            edit.valid_to
        from edits as edit
        where edit.container_id = version.container_id
            and edit.from_key = version.hold_key
            and edit.edited_at = version.valid_to
        limit 1

    ) as later
        on true
    -- The last text; looked up only if it was edited.
    left join lateral (

        with recursive

        texts as (

            select
                later.to_key as hold_key,
                later.description,
                later.valid_to,
                1 as nth
            where later.container_id is not null

            union all

            select
                next.to_key,
                next.description,
                next.valid_to,
                texts.nth + 1
            from texts
            inner join edits as next
                on next.container_id = version.container_id
                and next.from_key = texts.hold_key
                and next.edited_at = texts.valid_to

        )

        select
            texts.description,
            texts.valid_to
        from texts
        order by texts.nth desc
        limit 1

    ) as last
        on true
    where earlier.container_id is null

)

select
    hold.container_id,
    container.shipment_id,
    container.pod_terminal_id,
    hold.hold_key,
    container.number as container_number,
    shipment.bill_of_lading_number,
    shipment.shipping_line_scac,
    customer.customer_name,
    customer.ref_numbers_text,
    customer.tags_text,
    customer.custom_fields,
    coalesce(terminal.nickname, terminal.name) as pod_terminal,
    hold.place,
    hold.name as hold_name,
    hold.status,
    hold.description,
    hold.source,
    round(
        extract(
            epoch from coalesce(known.cleared_at, {{analytics}}.as_of()) - hold.placed_at
        ) / 3600,
        2
    ) as hours,
    known.cleared_at is null as is_open,
    hold.placed_at > seen._first_seen_at as is_start_known,
    hold.placed_at,
    hold.placed_at at time zone zone.name as placed_local,
    known.cleared_at,
    known.cleared_at at time zone zone.name as cleared_local
from intervals as hold
cross join lateral (

    select case when hold.gone_at <= {{analytics}}.as_of() then hold.gone_at end as cleared_at

) as known
inner join {{parts}}.known_containers as container
    on container.container_id = hold.container_id
inner join {{data}}.containers as seen
    on seen.container_id = hold.container_id
left join {{parts}}.known_shipments as shipment
    on shipment.shipment_id = container.shipment_id
left join {{data}}.terminals as terminal
    on terminal.terminal_id = container.pod_terminal_id
left join {{analytics}}.time_zones as zone
    on zone.name = case hold.place
        when 'ramp' then container.final_destination_timezone
        else container.pod_timezone
    end
left join {{analytics}}.container_customers as customer
    on customer.container_id = hold.container_id;
