-- Fees that the source has now
--
-- One row per fee on a container that the source has now. The base of the other views: of the schema for questions as of an instant it
-- is the file of the same name in as_of/, with the same columns. Volatile attributes have no history and are left out.

create view {{analytics}}.known_fees as
select
    live.container_id,
    live.fee_key,
    live.type,
    live.amount,
    live.currency_code,
    coalesce(live.type = 'total', false) as is_total
from {{data}}.container_fees as live;

comment on view {{analytics}}.known_fees is
    'One row per fee that is listed for a container, as it is now.';
comment on column {{analytics}}.known_fees.container_id is
    'Container; containers.';
comment on column {{analytics}}.known_fees.fee_key is
    'Tells fees of one container apart: by type and currency, then by position.';
comment on column {{analytics}}.known_fees.type is
    'demurrage, exam, extended_dwell_time, other, total; other values are kept.';
comment on column {{analytics}}.known_fees.amount is
    'Amount in the currency, exact.';
comment on column {{analytics}}.known_fees.currency_code is
    'ISO 4217 code; null: local currency, not said.';
comment on column {{analytics}}.known_fees.is_total is
    'True for a line that sums others: never to be added to them.';
