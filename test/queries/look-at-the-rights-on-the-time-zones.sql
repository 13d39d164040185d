-- look at the rights on the time zones

select where has_table_privilege($1, 'insert') and has_table_privilege($2, 'delete');
