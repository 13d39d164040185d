-- How old the stored views are
--
-- One row per view of the schema of stored views whose rows are stored now.
--
-- They hold the rows of other views as of stored_at, for reports that read all of them; each row
-- has that instant too (_stored_at). `serve` stores them again once an hour, and so does the
-- command `database store-views`, which makes them the first time. A view of that schema without a
-- row here reads the rows of now.
-- age_hours: from stored_at to as_of(); negative for an instant before it.

create view {{analytics}}.stored_views as
select
    view_name,
    rows as row_count,
    round(extract(epoch from {{analytics}}.as_of() - stored_at) / 3600, 2) as age_hours,
    round(took_ms / 1000.0, 1) as took_seconds,
    stored_at
from {{sync}}.stored_views;
