-- Without statistics on lists of ids and on documents, which no question filters by
--
-- To sample them took half of the time of `analyze` after a load: each value is read from where it
-- is stored apart, unpacked and compared. Other columns keep the statistics that they have.

alter table {{data}}.containers
    alter column transport_event_ids set statistics 0,
    alter column holds_at_pod_terminal set statistics 0,
    alter column fees_at_pod_terminal set statistics 0,
    alter column ind_facility_holds set statistics 0,
    alter column ind_facility_fees set statistics 0,
    alter column import_deadlines set statistics 0,
    alter column import_deadline_sources set statistics 0;

alter table {{data}}.container_history
    alter column holds_at_pod_terminal set statistics 0,
    alter column fees_at_pod_terminal set statistics 0,
    alter column ind_facility_holds set statistics 0,
    alter column ind_facility_fees set statistics 0,
    alter column import_deadlines set statistics 0,
    alter column import_deadline_sources set statistics 0;

alter table {{data}}.shipments
    alter column container_ids set statistics 0;

alter table {{data}}.ports
    alter column terminal_ids set statistics 0;
