-- list vessels

select "vessel_id" as name from "tracking"."vessels" order by 1;
