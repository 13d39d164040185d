-- Indexes for the views of the analytics schema. Each is of the few transport events that its views read, container by container or shipment by
-- shipment, so that most rows cost nothing when they are written. Texts of the source stand in none of them, for they may be longer than an index can hold.
-- Placeholders {{data}}, {{sync}}, {{analytics}}, {{asOf}}, {{datasync}} are the schema names derived from TRACKING_SCHEMA.

-- container_milestones, and containers of the compatibility schema.
create index transport_events_milestones_idx
    on {{data}}.transport_events (container_id)
    where event in (
        'container.transport.empty_out',
        'container.transport.full_in',
        'container.transport.vessel_loaded',
        'container.transport.vessel_berthed',
        'container.transport.delivered'
    );

-- transshipments
create index transport_events_transshipments_idx
    on {{data}}.transport_events (container_id)
    where event in (
        'container.transport.transshipment_arrived',
        'container.transport.transshipment_discharged',
        'container.transport.transshipment_loaded',
        'container.transport.transshipment_departed',
        'container.transport.feeder_arrived',
        'container.transport.feeder_discharged',
        'container.transport.feeder_loaded',
        'container.transport.feeder_departed'
    );

-- carrier_scorecards: how late shipping lines report.
create index transport_events_reported_arrivals_idx
    on {{data}}.transport_events (shipment_id)
    where event in (
        'container.transport.vessel_arrived', 'container.transport.vessel_discharged'
    )
    and data_source = 'shipping_line';

-- data_quality: what was recorded in the last thirty days.
create index transport_events_created_at_idx on {{data}}.transport_events (created_at);
