-- An index on the destination of shipments: attention asks how long stays at a ramp last

create index shipments_destination_locode_idx
on {{data}}.shipments using hash (destination_locode)
where destination_locode is not null;
