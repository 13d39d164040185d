-- Stays past their last free day
--
-- One row per stay of container_stays that is overdue or was out late, or has a day that has passed
-- while its end is unknown. A box under two shipments counts under one of them (tracked_twice). The
-- base of demurrage_exposure.

create view {{parts}}.overdue_stays as
select
    stay.container_id,
    stay.shipment_id,
    stay.pod_terminal_id,
    stay.container_number,
    stay.bill_of_lading_number,
    stay.shipping_line_scac,
    stay.pod_terminal,
    stay.place,
    stay.has_reached_ramp,
    stay.is_merged_from_port,
    stay.equipment_type,
    stay.equipment_length,
    stay.equipment_height,
    stay.terminal_names,
    stay.customer_name,
    stay.ref_numbers,
    stay.ref_numbers_text,
    stay.tags,
    stay.tags_text,
    stay.custom_fields,
    stay.state,
    stay.binding_source,
    stay.tracking_stopped_reason,
    stay.mode,
    stay.time_zone,
    stay.wall_zone,
    stay.days_over,
    stay.is_zone_known,
    stay.binding_on,
    stay.terminal_on,
    stay.line_on,
    stay.rail_on,
    stay.today_on,
    stay.out_on,
    stay.end_at,
    stay.place_locode,
    stay.pod_discharged_at,
    stay.reported_on,
    stay.departed_on,
    stay.started_on,
    stay.arrived_on,
    stay.berthed_on,
    stay.available_on
from {{analytics}}.container_stays as stay
where (
        stay.state in ('overdue', 'out_late')
        or stay.state = 'unknown'
        and stay.has_begun
        and not stay.has_ended
        and stay.binding_on < stay.today_on
    )
    and not exists (
        select
        from {{parts}}.tracked_pairs as twice
        where twice.container_id = stay.container_id
            and twice.is_counted_elsewhere
    );
