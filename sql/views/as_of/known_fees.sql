-- Fees as known at the instant asked for
--
-- One row per fee on a container that the source had: the version of the history that stood at the instant. Volatile attributes have no history
-- and are left out.

create view {{analytics}}.known_fees as
select
    version.container_id,
    version.fee_key,
    version.type,
    version.amount,
    version.currency_code,
    coalesce(version.type = 'total', false) as is_total
from {{data}}.container_fee_history as version
where version.valid_from <= {{analytics}}.as_of()
    and (version.valid_to is null or version.valid_to > {{analytics}}.as_of());

comment on view {{analytics}}.known_fees is
    'One row per fee that is listed for a container, as known at as_of().';
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
