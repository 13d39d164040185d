-- A schema for the views that views for people are made of

-- Another login may have made it, where this one may not.
do $$
begin
    if to_regnamespace('{{parts}}') is null then
        create schema {{parts}};
    end if;
end;
$$;

comment on schema {{parts}} is
    'Views that those of the analytics schema are made of: what is known, journeys, stays, clocks. '
    'Not for reports: they change with any version.';
