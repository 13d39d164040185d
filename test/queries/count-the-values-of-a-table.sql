-- count the values of a table

select count(*)::float8 as records, array[count("container_id"), count("number"), count("seal_number"), count("pod_full_out_chassis_number"), count("location_at_pod_terminal"), count("pod_timezone"), count("final_destination_timezone"), count("empty_terminated_timezone"), count("pod_rail_carrier_scac"), count("ind_rail_carrier_scac"), count("ref_numbers"), count("equipment_type"), count("weight_in_lbs"), count("availability_known"), count("available_for_pickup"), count("holds_at_pod_terminal"), count("fees_at_pod_terminal"), count("ind_facility_holds"), count("ind_facility_fees"), count("import_deadlines"), count("created_at"), count("pickup_lfd"), count("ssl_lfd"), count("pickup_appointment_at"), count("empty_out_at"), count("pol_full_in_at"), count("pol_vessel_loaded_at"), count("pol_vessel_departed_at"), count("pod_arrived_at"), count("pod_discharged_at"), count("pod_full_out_at"), count("pod_rail_loaded_at"), count("pod_rail_departed_at"), count("ind_eta_at"), count("ind_ata_at"), count("ind_rail_unloaded_at"), count("ind_facility_lfd_on"), count("final_destination_full_out_at"), count("delivered_at"), count("empty_terminated_at"), count("terminal_checked_at"), count("pod_last_tracking_request_at"), count("rail_last_tracking_request_at"), count("shipment_last_tracking_request_at"), count("equipment_length"), count("equipment_height"), count("current_status"), count("shipment_id"), count("pickup_facility_id"), count("pod_terminal_id"), count("transport_event_ids"), count("pickup_lfd_terminal"), count("pickup_lfd_rail"), count("pickup_lfd_line"), count("import_deadline_sources")]::float8[] as filled
from "tracking"."containers"
where _deleted_at is null;

select count(*)::float8 as records, array[count("container_id"), count("transport_event_id"), count("event"), count("data_source"), count("voyage_number"), count("timezone"), count("location_locode"), count("value"), count("timestamp"), count("created_at"), count("invalidated_at"), count("value_timestamp"), count("shipment_id"), count("location_id"), count("location_type"), count("vessel_id"), count("terminal_id"), count("terminal_type"), count("source_event_id"), count("previous_version_id"), count("is_estimated")]::float8[] as filled
from "tracking"."transport_events"
where _deleted_at is null;

select count(*)::float8 as records, array[count("custom_field_definition_id"), count("entity_type"), count("api_slug"), count("display_name"), count("data_type"), count("description"), count("reference_type"), count("default_format"), count("validation"), count("default_value"), count("sensitive")]::float8[] as filled
from "tracking"."custom_field_definitions"
where _deleted_at is null;

select count(*)::float8 as records, array[count("custom_field_id"), count("api_slug"), count("display_value"), count("value"), count("entity_id"), count("entity_type"), count("definition_id"), count("data_type"), count("value_text"), count("value_number"), count("value_date"), count("value_timestamp"), count("value_boolean"), count("value_list")]::float8[] as filled
from "tracking"."custom_fields"
where _deleted_at is null;

select count(*)::float8 as records, array[count("custom_field_option_id"), count("label"), count("value"), count("position"), count("definition_id")]::float8[] as filled
from "tracking"."custom_field_options"
where _deleted_at is null;

select count(*)::float8 as records, array[count("metro_area_id"), count("name"), count("code"), count("state_abbr"), count("country_code"), count("time_zone"), count("latitude"), count("longitude")]::float8[] as filled
from "tracking"."metro_areas"
where _deleted_at is null;

select count(*)::float8 as records, array[count("port_id"), count("name"), count("code"), count("state_abbr"), count("city"), count("country_code"), count("time_zone"), count("latitude"), count("longitude"), count("terminal_ids")]::float8[] as filled
from "tracking"."ports"
where _deleted_at is null;

select count(*)::float8 as records, array[count("rail_terminal_id"), count("name"), count("nickname"), count("firms_code"), count("city"), count("port_id"), count("metro_area_id")]::float8[] as filled
from "tracking"."rail_terminals"
where _deleted_at is null;

select count(*)::float8 as records, array[count("raw_event_id"), count("event"), count("original_event"), count("voyage_number"), count("location_name"), count("location_locode"), count("vessel_name"), count("vessel_imo"), count("timezone"), count("timestamp"), count("actual_at"), count("estimated_at"), count("created_at"), count("actual_on"), count("estimated_on"), count("estimated"), count("index"), count("location_id"), count("location_type"), count("vessel_id"), count("container_id"), count("attributes")]::float8[] as filled
from "tracking"."raw_events"
where _deleted_at is null;

select count(*)::float8 as records, array[count("shipment_id"), count("bill_of_lading_number"), count("normalized_number"), count("customer_name"), count("port_of_lading_locode"), count("port_of_lading_name"), count("pol_timezone"), count("port_of_discharge_locode"), count("port_of_discharge_name"), count("pod_timezone"), count("destination_locode"), count("destination_name"), count("destination_timezone"), count("shipping_line_scac"), count("shipping_line_name"), count("shipping_line_short_name"), count("pod_vessel_name"), count("pod_vessel_imo"), count("pod_voyage_number"), count("ref_numbers"), count("tags"), count("created_at"), count("pol_etd_at"), count("pol_original_etd_at"), count("pol_atd_at"), count("pod_eta_at"), count("pod_original_eta_at"), count("pod_ata_at"), count("destination_eta_at"), count("destination_original_eta_at"), count("destination_ata_at"), count("line_tracking_stopped_at"), count("line_tracking_last_attempted_at"), count("line_tracking_last_succeeded_at"), count("line_tracking_stopped_reason"), count("port_of_lading_id"), count("port_of_discharge_id"), count("pod_terminal_id"), count("destination_id"), count("destination_type"), count("destination_terminal_id"), count("destination_terminal_type"), count("line_tracking_stopped_by_user_id"), count("container_ids")]::float8[] as filled
from "tracking"."shipments"
where _deleted_at is null;

select count(*)::float8 as records, array[count("terminal_id"), count("name"), count("nickname"), count("firms_code"), count("smdg_code"), count("bic_facility_code"), count("street"), count("city"), count("state"), count("state_abbr"), count("zip"), count("country"), count("facility_type"), count("provided_data"), count("port_id")]::float8[] as filled
from "tracking"."terminals"
where _deleted_at is null;

select count(*)::float8 as records, array[count("tracking_request_id"), count("request_number"), count("scac"), count("request_type"), count("status"), count("failed_reason"), count("ref_numbers"), count("tags"), count("shipment_tags"), count("created_at"), count("updated_at"), count("is_retrying"), count("retry_count"), count("tracked_object_id"), count("tracked_object_type"), count("customer_id"), count("customer_type"), count("user_id")]::float8[] as filled
from "tracking"."tracking_requests"
where _deleted_at is null;

select count(*)::float8 as records, array[count("vessel_id"), count("name"), count("imo"), count("mmsi"), count("latitude"), count("longitude"), count("nautical_speed_knots"), count("navigational_heading_degrees"), count("position_timestamp")]::float8[] as filled
from "tracking"."vessels"
where _deleted_at is null;

select count(*)::float8 as records, array[count("webhook_event_category_id"), count("name"), count("events")]::float8[] as filled
from "tracking"."webhook_event_categories"
where _deleted_at is null;
