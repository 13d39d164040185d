-- Last free days, holds and fees as we saw them
--
-- One row per container and value that was listed over some time, in every version that we saw. A
-- hold whose text was edited is one with the last text (hold_durations).

create view {{parts}}.list_observations as
select
    deadline.container_id,
    deadline.place,
    'last free day' as kind,
    case deadline.kind
        when 'pickup_lfd' then 'service'
        when 'pickup_lfd_line' then 'line'
        when 'pickup_lfd_terminal' then 'terminal'
        when 'pickup_lfd_rail' then 'rail'
        else deadline.kind
    end as subject,
    null as value,
    deadline.source,
    null::numeric as amount,
    null as currency_code,
    deadline.local_date as last_free_on,
    deadline.valid_from as seen_at,
    deadline.valid_to as gone_at
from {{data}}.container_import_deadline_history as deadline

union all

select
    hold.container_id,
    hold.place,
    'hold' as kind,
    hold.hold_name as subject,
    concat_ws(': ', hold.status, hold.description) as value,
    hold.source,
    null::numeric as amount,
    null as currency_code,
    null::date as last_free_on,
    hold.placed_at as seen_at,
    hold.cleared_at as gone_at
from {{analytics}}.hold_durations as hold

union all

select
    fee.container_id,
    fee.place,
    'fee' as kind,
    fee.type as subject,
    concat_ws(' ', fee.amount, fee.currency_code) as value,
    fee.source,
    fee.amount,
    fee.currency_code,
    null::date as last_free_on,
    fee.valid_from as seen_at,
    fee.valid_to as gone_at
from {{data}}.container_fee_history as fee;
