-- Lines of invoices beside what we know
--
-- One row per line of dd_invoices: what it claims, what our days and rules say (invoice_sums), what
-- was given back (invoice_balances), and the day on which we saw it become available. The base of
-- invoices, which judges it.

create view {{parts}}.invoice_claims as
select
    invoice.issuer,
    invoice.invoice_number,
    invoice.line_number,
    invoice.charge,
    invoice.container_number,
    invoice.bill_of_lading_number,
    invoice.amount,
    invoice.currency_code,
    invoice.daily_rate,
    invoice.free_days,
    invoice.free_from_on,
    invoice.free_to_on,
    invoice.available_on,
    invoice.charged_from_on,
    invoice.charged_to_on,
    invoice.issued_on,
    found.container_id,
    found.shipment_id,
    found.pod_terminal_id,
    found.place,
    found.shipping_line_scac,
    found.pod_terminal,
    found.unmatched,
    found.also_charged_text,
    found.rule_name,
    found.rule_free_days,
    found.time_zone,
    found.clock_on,
    found.last_free_on,
    found.days_claimed,
    found.days,
    found.rated,
    found.unknown,
    found.on_hold,
    found.claimed_amount,
    found.caused_amount,
    found.twice_amount,
    found.outside_amount,
    found.free_then_amount,
    found.unavailable_amount,
    found.on_hold_amount,
    -- Zero days are zero unavailable days; days without a report are unknown.
    case when found.days = 0 then 0 else found.free_then end as free_then,
    case when found.days = 0 then 0 else found.unavailable end as unavailable,
    money.is_same_currency,
    case when money.is_same_currency then found.above_rule_amount end as above_rule_amount,
    case
        when money.is_same_currency
            then
                case when invoice.amount < 0 or found.days = 0 then 0 else found.rule_amount end
    end as amount_ours,
    balance.credited_amount,
    balance.net_amount,
    case
        when invoice.amount >= 0
            then coalesce(
                invoice.dispute_within_on,
                case when law.is_us then invoice.issued_on + 30 end
            )
    end as dispute_by_on,
    seen.available_seen_on,
    law.is_us,
    invoice.missing_items
from {{parts}}.invoice_terms as invoice
-- Looked up line by line, so that a question about few lines reads few days.
cross join lateral (

    select
        sums.container_id,
        sums.shipment_id,
        sums.pod_terminal_id,
        sums.place,
        sums.shipping_line_scac,
        sums.pod_terminal,
        sums.unmatched,
        sums.also_charged_text,
        sums.rule_name,
        sums.rule_free_days,
        sums.rule_currency_code,
        sums.time_zone,
        sums.clock_on,
        sums.last_free_on,
        sums.days_claimed,
        sums.days,
        sums.rated,
        sums.free_then,
        sums.unavailable,
        sums.unknown,
        sums.on_hold,
        sums.rule_amount,
        sums.claimed_amount,
        sums.caused_amount,
        sums.twice_amount,
        sums.outside_amount,
        sums.free_then_amount,
        sums.unavailable_amount,
        sums.on_hold_amount,
        sums.above_rule_amount
    from {{parts}}.invoice_sums as sums
    where sums.issuer = invoice.issuer
        and sums.invoice_number = invoice.invoice_number
        and sums.line_number = invoice.line_number
    offset 0

) as found
cross join lateral (

    select found.rule_currency_code = invoice.currency_code as is_same_currency

) as money
inner join {{parts}}.invoice_balances as balance
    on balance.container_number = invoice.container_number
    and balance.issuer = invoice.issuer
    and balance.invoice_number = invoice.invoice_number
    and balance.line_number = invoice.line_number
left join {{data}}.shipments as shipment
    on shipment.shipment_id = found.shipment_id
cross join lateral (

    select
        case
            when found.place = 'ramp' and invoice.charge = 'storage' then false
            else left(
                coalesce(
                    shipment.port_of_discharge_locode,
                    substring(upper(invoice.port_of_discharge) from '^[A-Z]{2}[A-Z0-9]{3}$')
                ),
                2
            ) in ('US', 'PR', 'VI', 'GU', 'AS', 'MP')
        end as is_us

) as law
left join lateral (

    select
        case
            when sight.was_available is false
                then (sight.valid_from at time zone found.time_zone)::date
        end as available_seen_on
    from (
        select
            version.valid_from,
            said.is_available,
            lag(said.is_available) over (order by version.valid_from) as was_available
        from {{data}}.container_history as version
        cross join lateral (

            select
                case found.place
                    when 'port'
                        then
                            case
                                when version.availability_known is not false
                                    then version.available_for_pickup
                            end
                    -- Before it left the port, the status is that of the port.
                    when 'ramp'
                        then
                            case
                                when coalesce(
                                    version.pod_rail_departed_at,
                                    version.ind_ata_at,
                                    version.ind_rail_unloaded_at
                                ) is not null
                                    then version.current_status = 'available'
                            end
                end as is_available

        ) as said
        where version.container_id = found.container_id
            and version.valid_from <= {{analytics}}.as_of()
    ) as sight
    where sight.is_available
    order by sight.valid_from
    limit 1

) as seen
    on true;
