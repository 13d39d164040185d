-- analyze

set local statement_timeout = 0;
