-- Empties that should be back
--
-- One row per container: its free days of the detention rule are over, or ten days without a rule.

create view {{parts}}.empty_exceptions as
select
    empty.container_id,
    empty.shipment_id,
    empty.pod_terminal_id,
    empty.container_number,
    empty.bill_of_lading_number,
    empty.shipping_line_scac,
    'port' as place,
    'empty_not_returned' as exception,
    format(
        'picked up %s days ago, and the empty is not back', floor(empty.days)
    ) as sentence,
    coalesce(clock.since_at, empty.full_out_at + interval '10 days') as since_at,
    clock.amount,
    clock.currency_code,
    clock.container_id is not null as is_charged
from {{analytics}}.empty_return_times as empty
-- Looked up one by one, so that a question about a few containers does not read every clock.
left join lateral (

    select
        running.container_id,
        running.state,
        running.amount,
        running.currency_code,
        (running.last_free_on + 1)::timestamp at time zone running.time_zone as since_at
    from {{analytics}}.charge_clocks as running
    where running.container_id = empty.container_id
        and (
            running.charge = 'detention' and running.last_free_source = 'rule'
            or running.charge = 'demurrage' and running.until = 'empty_return'
        )
        and running.state in ('upcoming', 'due_today', 'overdue')
        and exists (select from {{analytics}}.free_time_rules)
    offset 0

) as clock
    on true
where empty.state = 'out'
    and not empty.is_tracking_stopped
    and case
        when clock.container_id is null
            then empty.full_out_at < {{analytics}}.as_of() - interval '10 days'
        else clock.state = 'overdue'
    end;
