-- list webhook_event_categories

select "webhook_event_category_id" as id from "tracking"."webhook_event_categories" where _deleted_at is null order by 1;
