-- why: sales as people look at them: what follows from payments and the ledger, and can be made anew from them
-- lock: none, every object is new
-- phase: expand

CREATE SCHEMA sales;
GRANT USAGE ON SCHEMA sales TO admitone_app;

-- TENANT: one sale for each payment whose money came, or that cost nothing. Nothing is decided by it: it may be emptied
-- and made anew (FIN-044). A row that was made from an older version of its payment never replaces a newer one.
CREATE TABLE sales.sale_summary (
    organization_id    uuid        NOT NULL REFERENCES kernel.tenant (id),
    payment_id         uuid        NOT NULL,
    payment_version    bigint      NOT NULL CHECK (payment_version > 0),
    city_code          text        NOT NULL CHECK (city_code ~ '^[A-Z]{3,8}$'),
    identity_id        uuid        NOT NULL,
    source_type        text        NOT NULL CHECK (length(source_type) BETWEEN 1 AND 40),
    source_id          text        NOT NULL CHECK (length(source_id) BETWEEN 1 AND 64),
    provider_intent_id text        CHECK (length(provider_intent_id) BETWEEN 1 AND 200),
    status             text        NOT NULL CHECK (length(status) BETWEEN 1 AND 40),
    is_test            boolean     NOT NULL,
    currency           text        NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    subtotal_minor     bigint      NOT NULL,
    discount_minor     bigint      NOT NULL,
    platform_fee_minor bigint      NOT NULL,
    -- Nobody pays more for paying by card; the column is ORYA's, and always nothing.
    card_fee_minor     bigint      NOT NULL CHECK (card_fee_minor = 0),
    stripe_fee_minor   bigint,
    total_minor        bigint      NOT NULL,
    refunded_minor     bigint      NOT NULL,
    net_minor          bigint      NOT NULL,
    promotions         jsonb       NOT NULL,
    created_at         timestamptz NOT NULL,
    changed_at         timestamptz NOT NULL,
    PRIMARY KEY (organization_id, payment_id)
);
CREATE INDEX sale_by_time ON sales.sale_summary (organization_id, created_at, payment_id);
CREATE INDEX sale_by_status ON sales.sale_summary (organization_id, status, created_at, payment_id);
CREATE INDEX sale_by_source ON sales.sale_summary (organization_id, source_type, source_id, created_at, payment_id);
ALTER TABLE sales.sale_summary ENABLE ROW LEVEL SECURITY;
ALTER TABLE sales.sale_summary FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON sales.sale_summary TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
CREATE POLICY in_city ON sales.sale_summary AS RESTRICTIVE TO admitone_app
    USING (kernel.in_city(city_code)) WITH CHECK (kernel.in_city(city_code));
GRANT SELECT, INSERT, UPDATE, DELETE ON sales.sale_summary TO admitone_app;


-- TENANT: what was in the sale, line by line, as it was priced.
CREATE TABLE sales.sale_line (
    organization_id    uuid    NOT NULL,
    payment_id         uuid    NOT NULL,
    line               integer NOT NULL CHECK (line > 0),
    key                text    NOT NULL,
    quantity           integer NOT NULL CHECK (quantity > 0),
    unit_price_minor   bigint  NOT NULL,
    gross_minor        bigint  NOT NULL,
    discount_minor     bigint  NOT NULL,
    platform_fee_minor bigint  NOT NULL,
    net_minor          bigint  NOT NULL,
    promotions         jsonb   NOT NULL,
    PRIMARY KEY (organization_id, payment_id, line),
    FOREIGN KEY (organization_id, payment_id) REFERENCES sales.sale_summary (organization_id, payment_id)
);
ALTER TABLE sales.sale_line ENABLE ROW LEVEL SECURITY;
ALTER TABLE sales.sale_line FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON sales.sale_line TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
GRANT SELECT, INSERT, UPDATE, DELETE ON sales.sale_line TO admitone_app;
