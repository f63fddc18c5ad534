-- Name: kernel; Type: SCHEMA; Schema: -; Owner: admitone_owner
CREATE SCHEMA kernel;
ALTER SCHEMA kernel OWNER TO admitone_owner;

-- Name: set_scope(uuid, uuid, integer, boolean); Type: FUNCTION; Schema: kernel; Owner: admitone_owner
CREATE FUNCTION kernel.set_scope(organization uuid, identity uuid, patience_ms integer, writes boolean, OUT at timestamp with time zone, OUT transaction_id text) RETURNS record
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF organization IS NOT NULL THEN
        EXECUTE format('SET LOCAL app.organization_id = %L', organization);
    END IF;
    IF identity IS NOT NULL THEN
        EXECUTE format('SET LOCAL app.identity_id = %L', identity);
    END IF;
    IF patience_ms IS NOT NULL THEN
        EXECUTE format('SET LOCAL lock_timeout = %L', patience_ms);
    END IF;
    at := transaction_timestamp();
    IF writes THEN
        transaction_id := pg_current_xact_id()::text;
    END IF;
END
$$;
ALTER FUNCTION kernel.set_scope(organization uuid, identity uuid, patience_ms integer, writes boolean, OUT at timestamp with time zone, OUT transaction_id text) OWNER TO admitone_owner;

-- Name: audit_entry; Type: TABLE; Schema: kernel; Owner: admitone_owner
CREATE TABLE kernel.audit_entry (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    at timestamp with time zone NOT NULL,
    actor_id uuid,
    action text NOT NULL,
    subject text NOT NULL,
    reason_code text,
    before jsonb,
    after jsonb,
    correlation_id uuid NOT NULL,
    CONSTRAINT audit_entry_action_check CHECK (((length(action) >= 1) AND (length(action) <= 200))),
    CONSTRAINT audit_entry_reason_code_check CHECK ((length(reason_code) <= 100)),
    CONSTRAINT audit_entry_subject_check CHECK ((length(subject) <= 500))
);
ALTER TABLE ONLY kernel.audit_entry FORCE ROW LEVEL SECURITY;
ALTER TABLE kernel.audit_entry OWNER TO admitone_owner;

-- Name: idempotency_key; Type: TABLE; Schema: kernel; Owner: admitone_owner
CREATE TABLE kernel.idempotency_key (
    organization_id uuid NOT NULL,
    name bytea NOT NULL,
    request_hash bytea NOT NULL,
    answer bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT idempotency_key_name_check CHECK ((octet_length(name) = 32)),
    CONSTRAINT idempotency_key_request_hash_check CHECK ((octet_length(request_hash) = 32))
);
ALTER TABLE ONLY kernel.idempotency_key FORCE ROW LEVEL SECURITY;
ALTER TABLE kernel.idempotency_key OWNER TO admitone_owner;

-- Name: limit_counter; Type: TABLE; Schema: kernel; Owner: admitone_owner
CREATE TABLE kernel.limit_counter (
    key bytea NOT NULL,
    hits bigint NOT NULL,
    ends_at timestamp with time zone NOT NULL,
    CONSTRAINT limit_counter_hits_check CHECK ((hits > 0)),
    CONSTRAINT limit_counter_key_check CHECK ((octet_length(key) = 16))
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0.05');
ALTER TABLE ONLY kernel.limit_counter FORCE ROW LEVEL SECURITY;
ALTER TABLE kernel.limit_counter OWNER TO admitone_owner;

-- Name: migration; Type: TABLE; Schema: kernel; Owner: admitone_owner
CREATE TABLE kernel.migration (
    number integer NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT migration_number_check CHECK ((number > 0))
);
ALTER TABLE ONLY kernel.migration FORCE ROW LEVEL SECURITY;
ALTER TABLE kernel.migration OWNER TO admitone_owner;

-- Name: tenant; Type: TABLE; Schema: kernel; Owner: admitone_owner
CREATE TABLE kernel.tenant (
    id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY kernel.tenant FORCE ROW LEVEL SECURITY;
ALTER TABLE kernel.tenant OWNER TO admitone_owner;

-- Name: audit_entry audit_entry_pkey; Type: CONSTRAINT; Schema: kernel; Owner: admitone_owner
ALTER TABLE ONLY kernel.audit_entry
    ADD CONSTRAINT audit_entry_pkey PRIMARY KEY (id);

-- Name: idempotency_key idempotency_key_pkey; Type: CONSTRAINT; Schema: kernel; Owner: admitone_owner
ALTER TABLE ONLY kernel.idempotency_key
    ADD CONSTRAINT idempotency_key_pkey PRIMARY KEY (organization_id, name);

-- Name: limit_counter limit_counter_pkey; Type: CONSTRAINT; Schema: kernel; Owner: admitone_owner
ALTER TABLE ONLY kernel.limit_counter
    ADD CONSTRAINT limit_counter_pkey PRIMARY KEY (key);

-- Name: migration migration_pkey; Type: CONSTRAINT; Schema: kernel; Owner: admitone_owner
ALTER TABLE ONLY kernel.migration
    ADD CONSTRAINT migration_pkey PRIMARY KEY (number);

-- Name: tenant tenant_pkey; Type: CONSTRAINT; Schema: kernel; Owner: admitone_owner
ALTER TABLE ONLY kernel.tenant
    ADD CONSTRAINT tenant_pkey PRIMARY KEY (id);

-- Name: audit_entry_by_organization; Type: INDEX; Schema: kernel; Owner: admitone_owner
CREATE INDEX audit_entry_by_organization ON kernel.audit_entry USING btree (organization_id, id);

-- Name: idempotency_key idempotency_key_organization_id_fkey; Type: FK CONSTRAINT; Schema: kernel; Owner: admitone_owner
ALTER TABLE ONLY kernel.idempotency_key
    ADD CONSTRAINT idempotency_key_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES kernel.tenant(id);

-- Name: idempotency_key app_own; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY app_own ON kernel.idempotency_key TO admitone_app USING ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: tenant app_own; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY app_own ON kernel.tenant TO admitone_app USING ((id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid)) WITH CHECK ((id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: audit_entry app_records; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY app_records ON kernel.audit_entry FOR INSERT TO admitone_app WITH CHECK ((organization_id = (NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid));

-- Name: audit_entry; Type: ROW SECURITY; Schema: kernel; Owner: admitone_owner
ALTER TABLE kernel.audit_entry ENABLE ROW LEVEL SECURITY;

-- Name: limit_counter authority_counts; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY authority_counts ON kernel.limit_counter TO admitone_authority USING (true) WITH CHECK (true);

-- Name: idempotency_key; Type: ROW SECURITY; Schema: kernel; Owner: admitone_owner
ALTER TABLE kernel.idempotency_key ENABLE ROW LEVEL SECURITY;

-- Name: limit_counter; Type: ROW SECURITY; Schema: kernel; Owner: admitone_owner
ALTER TABLE kernel.limit_counter ENABLE ROW LEVEL SECURITY;

-- Name: migration; Type: ROW SECURITY; Schema: kernel; Owner: admitone_owner
ALTER TABLE kernel.migration ENABLE ROW LEVEL SECURITY;

-- Name: migration migration_owner; Type: POLICY; Schema: kernel; Owner: admitone_owner
CREATE POLICY migration_owner ON kernel.migration TO admitone_owner USING (true) WITH CHECK (true);

-- Name: tenant; Type: ROW SECURITY; Schema: kernel; Owner: admitone_owner
ALTER TABLE kernel.tenant ENABLE ROW LEVEL SECURITY;

-- Name: SCHEMA kernel; Type: ACL; Schema: -; Owner: admitone_owner
GRANT USAGE ON SCHEMA kernel TO admitone_app;
GRANT USAGE ON SCHEMA kernel TO admitone_buyer;
GRANT USAGE ON SCHEMA kernel TO admitone_identity;
GRANT USAGE ON SCHEMA kernel TO admitone_authority;
GRANT USAGE ON SCHEMA kernel TO admitone_relay;
GRANT USAGE ON SCHEMA kernel TO admitone_maintenance;

-- Name: TABLE audit_entry; Type: ACL; Schema: kernel; Owner: admitone_owner
GRANT INSERT ON TABLE kernel.audit_entry TO admitone_app;

-- Name: TABLE idempotency_key; Type: ACL; Schema: kernel; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE kernel.idempotency_key TO admitone_app;

-- Name: TABLE limit_counter; Type: ACL; Schema: kernel; Owner: admitone_owner
GRANT SELECT,INSERT,UPDATE ON TABLE kernel.limit_counter TO admitone_authority;

-- Name: TABLE tenant; Type: ACL; Schema: kernel; Owner: admitone_owner
GRANT SELECT,INSERT ON TABLE kernel.tenant TO admitone_app;
