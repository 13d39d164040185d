-- list terminals

select "terminal_id" as name from "tracking"."terminals" order by 1;
