-- list ports

select "port_id" as name from "tracking"."ports" order by 1;
