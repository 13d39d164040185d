-- Terminals at the port of discharge, with their ports
--
-- One row per terminal; the columns of its port are beside it, so that one join tells both.

create view {{analytics}}.pod_terminals as
select
    terminal.terminal_id as pod_terminal_id,
    coalesce(terminal.nickname, terminal.name) as pod_terminal,
    terminal.name as pod_terminal_name,
    terminal.firms_code,
    port.code as port_locode,
    port.name as port_name,
    port.country_code,
    port.latitude,
    port.longitude
from {{data}}.terminals as terminal
left join {{data}}.ports as port
    on port.port_id = terminal.port_id
where terminal._deleted_at is null;
