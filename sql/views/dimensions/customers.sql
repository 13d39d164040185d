-- Customers
--
-- One row per customer that a known shipment names at as_of(), spelt as there.

create view {{analytics}}.customers as
select
    shipment.customer_name,
    count(*)::integer as shipments
from {{parts}}.known_shipments as shipment
where shipment.customer_name is not null
group by shipment.customer_name;
