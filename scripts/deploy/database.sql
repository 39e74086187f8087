-- The service's user and database: it owns its database and has no rights beyond; run as PostgreSQL's administrator, with
-- DATABASE_PASSWORD in the environment. Safe to run again. Nothing of it is logged: it has the password.
\set ON_ERROR_STOP on
\getenv password DATABASE_PASSWORD
SET log_statement = 'none';
SET log_min_error_statement = 'panic';
SET log_min_duration_statement = -1;
SELECT 'CREATE ROLE matchfeed' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'matchfeed') \gexec
ALTER ROLE matchfeed LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION PASSWORD :'password';
-- The locale of a small system would make it SQL_ASCII.
SELECT 'CREATE DATABASE matchfeed OWNER matchfeed TEMPLATE template0 ENCODING ''UTF8'' LOCALE ''C.UTF-8'''
    WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = 'matchfeed') \gexec
REVOKE ALL ON DATABASE matchfeed FROM PUBLIC;
