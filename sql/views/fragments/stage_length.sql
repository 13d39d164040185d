-- How a stage at the port ended, and how long it took.
--
-- Of `journey`: a row of journeys. Of `stage`, which the view names: start_at, end_at, and
-- is_passed, whether something later than its end is known. port_stages says what each means. A
-- part, so that a view that needs the dwell alone looks up no transport event.
select
    case
        when stage.end_at >= stage.start_at then 'over'
        when stage.end_at is not null or stage.is_passed then 'not_measured'
        when journey.is_tracking_stopped then 'unwatched'
        else 'waiting'
    end as state,
    case
        when journey.left_port_at = journey.full_out_at then 'truck'
        when journey.left_port_at is not null or journey.goes_by_rail then 'rail'
        else 'truck'
    end as mode,
    date_part(
        'epoch',
        case
            when stage.end_at >= stage.start_at then stage.end_at - stage.start_at
            when stage.end_at is not null or stage.is_passed then null
            when not journey.is_tracking_stopped then {{analytics}}.as_of() - stage.start_at
            when journey.tracking_stopped_at is not null
                then greatest(
                    least(journey.tracking_stopped_at, {{analytics}}.as_of()) - stage.start_at,
                    interval '0'
                )
        end
    ) / 3600 as waited_hours,
    date_trunc('week', stage.start_at at time zone journey.port_wall_zone)::date as week_on
