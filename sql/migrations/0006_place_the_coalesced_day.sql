-- The coalesced last free day is at the place, and in the zone, of the day that it repeats.
-- Placeholders {{data}}, {{sync}}, {{analytics}}, {{asOf}}, {{stored}}, {{datasync}} are the schema
-- names derived from TRACKING_SCHEMA.

-- The terminal's and the line's last free day are days at the port of discharge, in pod_timezone;
-- the railway's is the day at the inland ramp, in final_destination_timezone. The service's own
-- pick is the day at the ramp where it equals the railway's and neither of the others, else a day
-- at the port. The line's day and the one at the ramp have each an older name, which counts where
-- the newer one is not sent. The caller looks up which of the zones time_zones knows, for a
-- function that reads no table can run wherever the rows of a distributed warehouse are.
create or replace function {{sync}}.deadlines_of(
    pickup_lfd timestamptz,
    pickup_lfd_terminal timestamptz,
    pickup_lfd_rail timestamptz,
    pickup_lfd_line timestamptz,
    ind_facility_lfd_on timestamptz,
    ssl_lfd timestamptz,
    sources jsonb,
    pod_timezone text,
    final_destination_timezone text,
    coercions jsonb,
    known_pod_timezone text,
    known_final_destination_timezone text
)
returns table (
    kind text,
    place text,
    deadline_at timestamptz,
    time_zone text,
    local_date date,
    is_zone_known boolean,
    details jsonb
)
language sql stable parallel safe
as $function$
    select
        sent.kind,
        sent.place,
        sent.deadline_at,
        sent.time_zone,
        case
            when sent.deadline_at is null then bare.day
            when day.local between '0001-01-01' and '9999-12-31' then day.local
        end,
        sent.deadline_at is null or zone.name is not null,
        $7 -> sent.kind -> 'details'
    from (
        select
            rail.deadline_at as rail_at,
            line.deadline_at as line_at,
            rail.column_name as rail_column,
            line.column_name as line_column,
            ($1, $10 -> 'pickup_lfd' ->> 'original')
            is not distinct from (rail.deadline_at, $10 -> rail.column_name ->> 'original')
            and ($1, $10 -> 'pickup_lfd' ->> 'original')
            is distinct from ($2, $10 -> 'pickup_lfd_terminal' ->> 'original')
            and ($1, $10 -> 'pickup_lfd' ->> 'original')
            is distinct from (line.deadline_at, $10 -> line.column_name ->> 'original')
            as is_rail_day
        from (
            select
                case when $10 ? 'pickup_lfd_rail' then $3 else coalesce($3, $5) end,
                case
                    when $10 ? 'pickup_lfd_rail' or $3 is not null then 'pickup_lfd_rail'
                    else 'ind_facility_lfd_on'
                end
        ) as rail (deadline_at, column_name)
        cross join (
            select
                case when $10 ? 'pickup_lfd_line' then $4 else coalesce($4, $6) end,
                case
                    when $10 ? 'pickup_lfd_line' or $4 is not null then 'pickup_lfd_line'
                    else 'ssl_lfd'
                end
        ) as line (deadline_at, column_name)
    ) as said
    cross join lateral (
        values
            (
                'pickup_lfd',
                case when said.is_rail_day then 'ramp' else 'port' end,
                $1,
                case when said.is_rail_day then $9 else $8 end,
                'pickup_lfd'
            ),
            ('pickup_lfd_terminal', 'port', $2, $8, 'pickup_lfd_terminal'),
            ('pickup_lfd_rail', 'ramp', said.rail_at, $9, said.rail_column),
            ('pickup_lfd_line', 'port', said.line_at, $8, said.line_column)
    ) as sent (kind, place, deadline_at, time_zone, column_name)
    cross join lateral (
        select case sent.place when 'ramp' then $12 else $11 end as name
    ) as zone
    -- A deadline that was sent as a bare date has no instant, yet its day is exactly what was
    -- meant.
    cross join lateral (
        select {{sync}}.day_of(btrim($10 -> sent.column_name ->> 'original', '"')) as day
    ) as bare
    -- Without a zone the instant is local wall time marked as UTC; an unknown zone yields no day.
    cross join lateral (
        select case
            when zone.name is not null then (sent.deadline_at at time zone zone.name)::date
            when sent.time_zone is null then (sent.deadline_at at time zone 'UTC')::date
        end as local
    ) as day
    where sent.deadline_at is not null or bare.day is not null

    union all

    select
        other.kind,
        other.place,
        other.deadline_at,
        other.time_zone,
        other.local_date,
        other.is_zone_known,
        other.details
    from {{sync}}.source_deadlines_of($7, $8, $9, $11, $12) as other
    where $7 is not null
$function$;
