-- Everything that happened to a container, in order

select
    container_number,
    occurred_at,
    occurred_local,
    kind,
    subject,
    from_value,
    to_value,
    detail,
    location_locode,
    source,
    learned_at,
    is_first_sight,
    container_id
from {{analytics}}.container_timeline
where (:container::text is null or :container::text in (container_id, container_number))
    and (:since::text is null or coalesce(occurred_at, learned_at) >= :since::text::timestamptz)
    and (:until::text is null or coalesce(occurred_at, learned_at) < :until::text::timestamptz)
order by container_id, coalesce(occurred_at, learned_at), learned_at, kind, subject
limit :limit::text::bigint
