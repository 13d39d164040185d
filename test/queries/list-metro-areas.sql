-- list metro_areas

select "metro_area_id" as name from "tracking"."metro_areas" order by 1;
