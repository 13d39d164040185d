-- Empty containers to bring back
--
-- One row per container that is or was out, from its full gate-out on, as known at as_of(). A box
-- under two shipments is under one of them (tracked_twice).
--
-- state, return_by_on and the amounts are those of its clock of detention, or of the merged clock
-- of the line, which began before the gate-out (detention_clock): `unknown` if no rule applies, the
-- day on which the clock began is unknown, or the service no longer tracks the container while it
-- is out. next_day_amount is the cost of one more day from now: 0 while a free day is left.
-- days_out and calendar_days_out run from the pickup to the return, without regard to free days
-- (empty_return_times): to as_of() while it is out, null where the pickup or its order is unknown.
-- is_returned: whether the return of the empty is reported. After the end of tracking it may have
-- come back without a report.

create view {{analytics}}.empties as
select
    clock.container_id,
    clock.shipment_id,
    clock.pod_terminal_id,
    clock.container_number,
    clock.bill_of_lading_number,
    clock.shipping_line_scac,
    clock.pod_terminal,
    clock.charge,
    clock.state,
    clock.rule_name,
    clock.currency_code,
    clock.customer_name,
    clock.ref_numbers_text,
    clock.tags_text,
    clock.custom_fields,
    clock.time_zone,
    out.equipment_type,
    out.equipment_length,
    clock.free_days,
    clock.days_left,
    clock.days_over,
    out.days as days_out,
    out.calendar_days as calendar_days_out,
    clock.days_without_rate,
    clock.amount as cost_amount,
    clock.next_day_amount,
    coalesce(out.state <> 'out', clock.returned_on is not null) as is_returned,
    coalesce(out.is_tracking_stopped, false) as is_tracking_stopped,
    clock.gate_out_on,
    clock.return_by_on,
    clock.returned_on,
    out.full_out_at,
    out.full_out_local,
    out.empty_terminated_at,
    out.empty_terminated_local
from {{analytics}}.detention_clock as clock
-- Looked up container by container: a question about one must not read the journeys of all.
left join lateral (

    select
        one.state,
        one.equipment_type,
        one.equipment_length,
        one.days,
        one.calendar_days,
        one.is_tracking_stopped,
        one.full_out_at,
        one.full_out_local,
        one.empty_terminated_at,
        one.empty_terminated_local
    from {{analytics}}.empty_return_times as one
    where one.container_id = clock.container_id
    offset 0

) as out
    on true;
