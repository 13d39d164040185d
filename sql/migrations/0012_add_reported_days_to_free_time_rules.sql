-- A contract can give more free days, or fewer, than the day that terminal, line or railway report.
alter table {{analytics}}.free_time_rules
    add column reported text not null default 'binds',
    add constraint free_time_rules_reported_is_known check (
        reported in ('binds', 'ignored', 'earlier', 'later')
        and (reported = 'binds' or free_days is not null)
    );

comment on column {{analytics}}.free_time_rules.reported is
    'What counts where the one who charges reports a last free day. binds: that day. ignored: the '
    'day of the rule. earlier, later: the earlier or later of both.';
