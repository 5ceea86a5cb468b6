-- What the service stores. `documents` is the truth, `passages` the index made of it: each row carries its own permissions, and
-- row-level security stands on both. The service reads as `tenants_reader`, who owns nothing and so never passes it by.
drop schema if exists app cascade;
create schema app;
create extension if not exists vector;
do $$ begin
  if not exists (select from pg_roles where rolname = 'tenants_reader') then create role tenants_reader nologin; end if;
end $$;

create table app.documents (
  id text primary key, title text not null, body text not null, summary text not null,
  tenants text[] not null, readers text[] not null, limited boolean not null);
create table app.passages (
  id text primary key, document_id text not null, title text not null, body text not null, summary text not null,
  tenants text[] not null, readers text[] not null, limited boolean not null,
  words tsvector not null, embedding vector(256) not null, summary_embedding vector(256) not null);
create index on app.passages using gin (words);

-- Who may read a row: a tenant of the row is the caller's or '*', and where the row is limited the caller is, or is in, a reader.
create function app.may_read(row_tenants text[], row_readers text[], row_limited boolean) returns boolean
language sql stable as $$
  select row_tenants && array['*', current_setting('app.tenant', true)]
     and (not row_limited or current_setting('app.all_groups', true) = 'on'
          or row_readers && string_to_array(current_setting('app.readers', true), E'\n'))
$$;
alter table app.documents enable row level security;
alter table app.passages enable row level security;
create policy readable on app.documents using (app.may_read(tenants, readers, limited));
create policy readable on app.passages using (app.may_read(tenants, readers, limited));
grant usage on schema app to tenants_reader;
grant select on app.documents, app.passages to tenants_reader;
