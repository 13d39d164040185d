-- Tokens with which other programs ask questions over HTTP.
create table {{sync}}.access_tokens (
    token_id text collate "C" not null,
    name text not null,
    secret_hash bytea not null,
    questions text [] not null,
    customer_names text [],
    created_at timestamptz not null default now(),
    expires_at timestamptz not null,
    revoked_at timestamptz,
    uses bigint not null default 0,
    last_used_at timestamptz,
    constraint access_tokens_pkey primary key (token_id),
    constraint access_tokens_secret_hash_is_sha256 check (octet_length(secret_hash) = 32),
    constraint access_tokens_questions_are_named check (cardinality(questions) > 0),
    constraint access_tokens_customer_is_named check (cardinality(customer_names) > 0)
);

create unique index access_tokens_name_key on {{sync}}.access_tokens (name)
where revoked_at is null;

comment on table {{sync}}.access_tokens is
    'One row per token that lets another program ask questions over HTTP, with its uses.';
comment on column {{sync}}.access_tokens.token_id is
    'A part of the text of the token by which it is looked up; opens nothing.';
comment on column {{sync}}.access_tokens.name is
    'Name that a person gave it. Only one token that is not revoked has it.';
comment on column {{sync}}.access_tokens.secret_hash is
    'SHA-256 of the text of the token. The text itself is nowhere.';
comment on column {{sync}}.access_tokens.questions is
    'Names of the questions that it may ask.';
comment on column {{sync}}.access_tokens.customer_names is
    'Names of the customer whose rows it reads, by a role of that customer. Null: every row.';
comment on column {{sync}}.access_tokens.created_at is
    'When it was created. UTC.';
comment on column {{sync}}.access_tokens.expires_at is
    'From when on it opens nothing. UTC.';
comment on column {{sync}}.access_tokens.revoked_at is
    'When it was revoked. UTC. Null: it was not.';
comment on column {{sync}}.access_tokens.uses is
    'How many requests it opened. Written once a minute at most; a killed process loses its last.';
comment on column {{sync}}.access_tokens.last_used_at is
    'When it last opened a request, as of the last write. UTC. Null: never.';
