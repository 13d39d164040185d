-- The request budget as all processes of an account share it.
-- Unlogged: each request writes here, and nothing that is a minute old matters. After a crash of the database the table is empty;
-- until a minute later the service's own 429 is what holds the rate, and the pause after it is kept here again.
-- Placeholders {{data}}, {{sync}}, {{analytics}}, {{datasync}} are the schema names derived from TRACKING_SCHEMA.

drop table {{sync}}.request_budget;

create unlogged table {{sync}}.request_budget (
    account text collate "C" not null,
    requested_at timestamptz[] not null default '{}',
    sync_requests integer[] not null default '{}',
    other_requests integer[] not null default '{}',
    reread_asked_at timestamptz,
    paused_until timestamptz,
    constraint request_budget_pkey primary key (account)
);

comment on table {{sync}}.request_budget is
    'Requests of the last minute, shared by all processes of an account. Unlogged: empty after a crash of the database.';
comment on column {{sync}}.request_budget.account is
    'Account the budget belongs to: a hash of the service''s address and the key, neither of which can be read from it.';
comment on column {{sync}}.request_budget.requested_at is
    'Instants of the last minute''s requests in order, on the database''s clock; those within a tenth of a second are one. UTC.';
comment on column {{sync}}.request_budget.sync_requests is
    'Requests of backfill and sync at each of these instants.';
comment on column {{sync}}.request_budget.other_requests is
    'Other requests, such as re-reads after a notification, at each of these instants.';
comment on column {{sync}}.request_budget.reread_asked_at is
    'When somebody last asked for a re-read; for a while afterwards a share is kept for re-reads. UTC.';
comment on column {{sync}}.request_budget.paused_until is
    'No request before this instant: the service''s Retry-After. UTC.';

-- A function, because a request should cost one round trip and no planning: as one plain statement it took several times as long.
create function {{sync}}.ask_for_request(
    asking_account text,
    purpose text,
    per_window integer,
    sync_per_window integer,
    window_length interval,
    grain interval,
    reserve_kept interval,
    longest_pause interval,
    out is_granted boolean,
    out wait_ms double precision
)
language plpgsql
as $function$
declare
    budget {{sync}}.request_budget;
    instant timestamptz;
    oldest integer := 1;
    newest integer;
    is_sync boolean := purpose = 'sync';
    is_sync_limited boolean;
    is_clock_put_back boolean := false;
    requests bigint;
    syncs bigint;
    free_at timestamptz;
begin
    loop
        select
            stored.account,
            stored.requested_at,
            stored.sync_requests,
            stored.other_requests,
            stored.reread_asked_at,
            stored.paused_until
        into budget
        from {{sync}}.request_budget as stored
        where stored.account = asking_account
        for update;

        exit when found;

        insert into {{sync}}.request_budget (account)
        values (asking_account)
        on conflict (account) do nothing;
    end loop;

    -- Read only now: while the row is locked, instants are in the order of the grants.
    instant := clock_timestamp();

    -- What is older than the window is over.
    newest := cardinality(budget.requested_at);
    while oldest <= newest
        and budget.requested_at[oldest] <= instant - window_length - grain
    loop
        oldest := oldest + 1;
    end loop;
    budget.requested_at := budget.requested_at[oldest:];
    budget.sync_requests := budget.sync_requests[oldest:];
    budget.other_requests := budget.other_requests[oldest:];
    newest := cardinality(budget.requested_at);

    -- Instants in the future are from before the clock was put back. They count as now, or they would never be over.
    for position in reverse newest .. 1 loop
        exit when budget.requested_at[position] <= instant;
        budget.requested_at[position] := instant;
        is_clock_put_back := true;
    end loop;
    if budget.paused_until > instant + longest_pause then
        budget.paused_until := null;
    end if;

    if purpose = 'reread' then
        budget.reread_asked_at := instant;
    end if;
    is_sync_limited := is_sync
        and coalesce(budget.reread_asked_at > instant - reserve_kept, false);

    select coalesce(sum(used.syncs), 0), coalesce(sum(used.syncs + used.others), 0)
    into syncs, requests
    from unnest(budget.sync_requests, budget.other_requests) as used (syncs, others);

    is_granted := requests < per_window
        and not (is_sync_limited and syncs >= sync_per_window)
        and coalesce(budget.paused_until <= instant, true);

    if is_granted then
        if newest = 0 or budget.requested_at[newest] <= instant - grain then
            newest := newest + 1;
            budget.requested_at[newest] := instant;
            budget.sync_requests[newest] := 0;
            budget.other_requests[newest] := 0;
        end if;
        requests := requests + 1;
        if is_sync then
            syncs := syncs + 1;
            budget.sync_requests[newest] := budget.sync_requests[newest] + 1;
        else
            budget.other_requests[newest] := budget.other_requests[newest] + 1;
        end if;
    end if;

    -- Who was refused writes nothing, unless there is something that others must know.
    if is_granted or purpose = 'reread' or is_clock_put_back then
        update {{sync}}.request_budget as stored
        set
            requested_at = budget.requested_at,
            sync_requests = budget.sync_requests,
            other_requests = budget.other_requests,
            reread_asked_at = budget.reread_asked_at,
            paused_until = budget.paused_until
        where stored.account = asking_account;
    end if;

    -- The next request of this kind: when enough of the oldest will be over, and no pause stands.
    free_at := greatest(instant, budget.paused_until);
    oldest := 1;
    while requests >= per_window or (is_sync_limited and syncs >= sync_per_window) loop
        free_at := greatest(free_at, budget.requested_at[oldest] + window_length + grain);
        requests := requests
            - budget.sync_requests[oldest] - budget.other_requests[oldest];
        syncs := syncs - budget.sync_requests[oldest];
        oldest := oldest + 1;
    end loop;
    wait_ms := extract(epoch from free_at - instant) * 1000;
end
$function$;

comment on function {{sync}}.ask_for_request is
    'Grants and counts one request of an account, or says in how many milliseconds to ask again. For tracking-sync.';
