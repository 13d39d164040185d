-- For compose.yml: run by psql as the superuser when the database is new. `tracking` owns its
-- database and makes the role and the login of readers; the superuser has no password any more, so
-- it logs in from within the container alone.
\getenv password POSTGRES_PASSWORD
create role tracking login createrole password :'password';
alter database tracking owner to tracking;
alter role postgres password null;
