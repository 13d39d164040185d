-- Whether a container comes on another voyage is asked by several views, and decided here.
-- Most voyages are written in the same way: only the others are worth the work.
create function {{analytics}}.is_other_voyage(
    imo text, name text, voyage text, other_imo text, other_name text, other_voyage text
) returns boolean
language sql immutable parallel safe
return coalesce(
    case
        when imo is not null and other_imo is not null then imo <> other_imo
        else upper(btrim(name)) <> upper(btrim(other_name))
    end,
    false
)
or case
    when voyage <> other_voyage
        then ltrim(upper(btrim(voyage)), '0') <> ltrim(upper(btrim(other_voyage)), '0')
    else false
end;

comment on function {{analytics}}.is_other_voyage is
    'Whether vessel or voyage differ: vessels by IMO number, by name where one lacks it; voyages '
    'without leading zeros, spaces and case. Silence about one of them is no difference.';
