-- list rail_terminals

select "rail_terminal_id" as name from "tracking"."rail_terminals" order by 1;
