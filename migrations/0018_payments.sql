-- why: payments, what providers say happened to them, and what we asked of providers
-- lock: none, every object is new, but for a function and a policy beside authority.switch
-- phase: expand

CREATE SCHEMA payments;
GRANT USAGE ON SCHEMA payments TO admitone_app, admitone_buyer, admitone_relay;

-- TENANT: one payment for one source. The snapshot is the text that was hashed, and is never touched again: the app may
-- update what follows from facts, and nothing else. `status` is the fold of its facts.
CREATE TABLE payments.payment (
    organization_id       uuid        NOT NULL REFERENCES kernel.tenant (id),
    id                    uuid        NOT NULL,
    city_code             text        NOT NULL CHECK (city_code ~ '^[A-Z]{3,8}$'),
    identity_id           uuid        NOT NULL,
    payee_id              uuid        NOT NULL,
    source_type           text        NOT NULL CHECK (source_type IN ('TICKET_ORDER', 'BOOKING', 'PADEL_REGISTRATION',
                                                      'STORE_ORDER', 'STAY_RESERVATION', 'COUPON_CAMPAIGN')),
    source_id             text        NOT NULL CHECK (length(source_id) BETWEEN 1 AND 64),
    flow                  text        NOT NULL CHECK (flow IN ('SALE', 'STAY', 'STAY_LEFT', 'CAMPAIGN', 'RESALE')),
    settlement_model      text        NOT NULL CHECK (settlement_model IN ('ORG_MOR', 'PLATFORM_MOR')),
    scenario              text        NOT NULL CHECK (scenario IN ('PAID', 'FREE_CHECKOUT')),
    method                text        NOT NULL CHECK (method IN ('CARD', 'PIX', 'FREE')),
    provider              text        CHECK (provider IN ('sandbox', 'stripe', 'mercadopago', 'openpix')),
    account               text        CHECK (length(account) BETWEEN 1 AND 100),
    livemode              boolean     NOT NULL,
    amount_minor          bigint      NOT NULL CHECK (amount_minor BETWEEN 0 AND 9007199254740991),
    fee_minor             bigint      NOT NULL CHECK (fee_minor BETWEEN 0 AND amount_minor),
    currency              text        NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    fee_policy_version    text        NOT NULL CHECK (length(fee_policy_version) BETWEEN 1 AND 128),
    snapshot              text        NOT NULL CHECK (length(snapshot) BETWEEN 2 AND 200000),
    snapshot_hash         text        NOT NULL CHECK (snapshot_hash ~ '^[0-9a-f]{64}$'),
    subjects              text[]      NOT NULL CHECK (cardinality(subjects) <= 20),
    idempotency_key       text        NOT NULL CHECK (length(idempotency_key) BETWEEN 1 AND 255),
    request_hash          bytea       NOT NULL CHECK (octet_length(request_hash) = 32),
    correlation_id        uuid        NOT NULL,
    status                text        NOT NULL CHECK (status IN ('CREATED', 'PENDING', 'REQUIRES_ACTION', 'PROCESSING',
                                                      'SUCCEEDED', 'FAILED', 'CANCELLED', 'EXPIRED', 'NEEDS_MANUAL',
                                                      'PARTIAL_REFUND', 'REFUNDED', 'DISPUTED', 'CHARGEBACK_WON',
                                                      'CHARGEBACK_LOST')),
    refund_state          text        NOT NULL CHECK (refund_state IN ('NONE', 'PENDING', 'FAILED')),
    manual_reason         text        CHECK (manual_reason IN ('LATE', 'AMOUNT_MISMATCH', 'CURRENCY_MISMATCH',
                                                      'SOURCE_ALREADY_PAID')),
    applied               boolean     NOT NULL,
    captured_minor        bigint      NOT NULL CHECK (captured_minor >= 0),
    refunded_minor        bigint      NOT NULL CHECK (refunded_minor BETWEEN 0 AND captured_minor),
    failed_attempts       integer     NOT NULL CHECK (failed_attempts >= 0),
    processor_fees_status text        NOT NULL CHECK (processor_fees_status IN ('PENDING', 'FINAL')),
    processor_fees_actual bigint,
    charge_id             text        CHECK (length(charge_id) BETWEEN 1 AND 200),
    version               bigint      NOT NULL CHECK (version > 0),
    created_at            timestamptz NOT NULL,
    changed_at            timestamptz NOT NULL,
    expires_at            timestamptz NOT NULL CHECK (expires_at > created_at),
    -- For ever: the answers of the API are replayed for three days, this never ends.
    UNIQUE (organization_id, source_type, source_id, idempotency_key),
    CHECK ((processor_fees_status = 'FINAL') = (processor_fees_actual IS NOT NULL)),
    CHECK ((scenario = 'FREE_CHECKOUT') = (amount_minor = 0)),
    CHECK ((scenario = 'FREE_CHECKOUT') = (method = 'FREE') AND (method = 'FREE') = (provider IS NULL)),
    CHECK ((flow IN ('SALE', 'RESALE')) = (settlement_model = 'ORG_MOR')),
    CHECK (settlement_model = 'ORG_MOR' OR source_type IN ('STAY_RESERVATION', 'COUPON_CAMPAIGN')),
    -- Paid, and not fully reversed: only what was applied may be so.
    CHECK (applied OR status NOT IN ('SUCCEEDED', 'PARTIAL_REFUND', 'CHARGEBACK_WON')),
    CHECK (status <> 'NEEDS_MANUAL' OR (manual_reason IS NOT NULL AND NOT applied))
);
-- One source is paid by one payment at a time, and once.
CREATE UNIQUE INDEX payment_open ON payments.payment (organization_id, source_type, source_id)
    WHERE status IN ('CREATED', 'PENDING', 'REQUIRES_ACTION', 'PROCESSING');
CREATE UNIQUE INDEX payment_applied ON payments.payment (organization_id, source_type, source_id) WHERE applied;
-- What failed may still be paid at its provider: whoever begins anew has it closed.
CREATE INDEX payment_failed ON payments.payment (organization_id, source_type, source_id) WHERE status = 'FAILED';
CREATE INDEX payment_by_status ON payments.payment (organization_id, status, id);
CREATE INDEX payment_of_identity ON payments.payment (identity_id, id);
-- What passes without anybody doing anything, for everybody: the sweeper looks here.
CREATE INDEX payment_overdue ON payments.payment (expires_at, id)
    WHERE status IN ('CREATED', 'PENDING', 'REQUIRES_ACTION', 'PROCESSING', 'FAILED');
CREATE INDEX payment_without_fee ON payments.payment (id)
    WHERE processor_fees_status = 'PENDING' AND captured_minor > 0;
CREATE INDEX payment_without_fee_of_organization ON payments.payment (organization_id, id)
    WHERE processor_fees_status = 'PENDING' AND captured_minor > 0;
-- Last: of indexes that look equally good for a table without statistics the planner takes the one that was made last,
-- and every reference to a payment is looked up by this one.
ALTER TABLE payments.payment ADD PRIMARY KEY (organization_id, id);
ALTER TABLE payments.payment ENABLE ROW LEVEL SECURITY;
ALTER TABLE payments.payment FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON payments.payment TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
CREATE POLICY in_city ON payments.payment AS RESTRICTIVE TO admitone_app
    USING (kernel.in_city(city_code)) WITH CHECK (kernel.in_city(city_code));
CREATE POLICY buyer_own ON payments.payment FOR SELECT TO admitone_buyer
    USING (identity_id = NULLIF(current_setting('app.identity_id', true), '')::uuid);
CREATE POLICY relay_sweeps ON payments.payment FOR SELECT TO admitone_relay USING (true);
GRANT SELECT, INSERT ON payments.payment TO admitone_app;
GRANT UPDATE (flow, status, refund_state, manual_reason, applied, captured_minor, refunded_minor, failed_attempts,
              processor_fees_status, processor_fees_actual, charge_id, version, changed_at)
    ON payments.payment TO admitone_app;
GRANT SELECT ON payments.payment TO admitone_buyer;
GRANT SELECT (organization_id, id, status, expires_at, processor_fees_status, captured_minor) ON payments.payment
    TO admitone_relay;


-- TENANT: what happened to a payment, once each, by its own key; `ordinal` is the order in which we learnt it. Most is told
-- by the provider; what we decide ourselves (closing it, applying it) stands here too, because the status is the fold of
-- all of it. Append-only.
CREATE TABLE payments.payment_fact (
    organization_id uuid        NOT NULL,
    payment_id      uuid        NOT NULL,
    key             text        NOT NULL CHECK (length(key) BETWEEN 1 AND 200),
    ordinal         integer     NOT NULL CHECK (ordinal > 0),
    kind            text        NOT NULL CHECK (kind IN ('PENDING', 'REQUIRES_ACTION', 'PROCESSING', 'FAILED', 'CAPTURED',
                                                'CANCELLED', 'EXPIRED', 'FEE', 'FEE_ADJUSTMENT', 'REFUND_PENDING',
                                                'REFUNDED', 'REFUND_FAILED', 'DISPUTE_OPENED', 'DISPUTE_WON',
                                                'DISPUTE_LOST', 'APPLIED', 'COMMISSION_HELD', 'COMMISSION_KEPT')),
    at              timestamptz NOT NULL,
    reference       text        NOT NULL CHECK (length(reference) <= 200),
    amount_minor    bigint      NOT NULL,
    currency        text        NOT NULL CHECK (currency ~ '^([A-Z]{3})?$'),
    total_minor     bigint      NOT NULL CHECK (total_minor >= 0),
    fee_minor       bigint      NOT NULL CHECK (fee_minor >= 0),
    code            text        NOT NULL CHECK (length(code) <= 100),
    charge          text        NOT NULL CHECK (length(charge) <= 200),
    recorded_at     timestamptz NOT NULL,
    PRIMARY KEY (organization_id, payment_id, key),
    UNIQUE (organization_id, payment_id, ordinal),
    FOREIGN KEY (organization_id, payment_id) REFERENCES payments.payment (organization_id, id),
    CHECK (kind = 'FEE_ADJUSTMENT' OR amount_minor >= 0)
);
ALTER TABLE payments.payment_fact ENABLE ROW LEVEL SECURITY;
ALTER TABLE payments.payment_fact FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON payments.payment_fact TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
GRANT SELECT, INSERT ON payments.payment_fact TO admitone_app;


-- TENANT: what we are about to ask a provider, written before it is asked. Its id is the provider's idempotency key, so
-- whoever finds it open may ask again. The answer is sealed: it lets a browser pay.
CREATE TABLE payments.gateway_intent (
    organization_id uuid        NOT NULL,
    id              uuid        NOT NULL,
    payment_id      uuid        NOT NULL,
    action          text        NOT NULL CHECK (action IN ('OPEN', 'REFUND')),
    state           text        NOT NULL CHECK (state IN ('OPEN', 'DONE', 'REFUSED')),
    amount_minor    bigint      NOT NULL CHECK (amount_minor > 0),
    currency        text        NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    return_url      text        CHECK (length(return_url) <= 2000),
    description     text        NOT NULL CHECK (length(description) <= 200),
    reason          text        CHECK (length(reason) <= 200),
    answer          bytea       CHECK (octet_length(answer) <= 8000),
    capture_key     text        CHECK (length(capture_key) BETWEEN 1 AND 200),
    unanswered      integer     NOT NULL DEFAULT 0 CHECK (unanswered >= 0),
    created_at      timestamptz NOT NULL,
    settled_at      timestamptz,
    PRIMARY KEY (organization_id, id),
    FOREIGN KEY (organization_id, payment_id) REFERENCES payments.payment (organization_id, id),
    CHECK ((state = 'OPEN') = (settled_at IS NULL)),
    CHECK ((state = 'REFUSED') = (reason IS NOT NULL)),
    CHECK ((action = 'REFUND') = (capture_key IS NOT NULL))
);
CREATE INDEX gateway_intent_of_payment ON payments.gateway_intent (organization_id, payment_id);
-- What was ordered by ourselves and not answered three times waits for somebody (PAY-069).
CREATE INDEX gateway_intent_unsettled ON payments.gateway_intent (created_at, id) WHERE state = 'OPEN' AND unanswered < 3;
ALTER TABLE payments.gateway_intent ENABLE ROW LEVEL SECURITY;
ALTER TABLE payments.gateway_intent FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON payments.gateway_intent TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
CREATE POLICY relay_sweeps ON payments.gateway_intent FOR SELECT TO admitone_relay USING (true);
GRANT SELECT, INSERT ON payments.gateway_intent TO admitone_app;
GRANT UPDATE (state, reason, answer, unanswered, settled_at) ON payments.gateway_intent TO admitone_app;
GRANT SELECT (organization_id, id, payment_id, action, state, unanswered, created_at) ON payments.gateway_intent TO admitone_relay;


-- TENANT: money that came and belongs to nothing that was for sale: late, of another amount, or too much.
CREATE TABLE payments.unapplied_receipt (
    organization_id uuid        NOT NULL,
    payment_id      uuid        NOT NULL,
    capture_key     text        NOT NULL CHECK (length(capture_key) BETWEEN 1 AND 200),
    city_code       text        NOT NULL CHECK (city_code ~ '^[A-Z]{3,8}$'),
    amount_minor    bigint      NOT NULL CHECK (amount_minor > 0),
    currency        text        NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    reason          text        NOT NULL CHECK (reason IN ('LATE', 'AMOUNT_MISMATCH', 'CURRENCY_MISMATCH',
                                                'SOURCE_ALREADY_PAID', 'SURPLUS', 'SECOND_CAPTURE')),
    policy          text        NOT NULL CHECK (policy IN ('AUTO_REFUND', 'MANUAL')),
    state           text        NOT NULL CHECK (state IN ('OPEN', 'RETURNING', 'RETURNED', 'APPLIED', 'LOST')),
    created_at      timestamptz NOT NULL,
    settled_at      timestamptz,
    PRIMARY KEY (organization_id, payment_id, capture_key),
    FOREIGN KEY (organization_id, payment_id) REFERENCES payments.payment (organization_id, id),
    CHECK ((state IN ('OPEN', 'RETURNING')) = (settled_at IS NULL))
);
CREATE INDEX unapplied_receipt_unsettled ON payments.unapplied_receipt (organization_id, payment_id, capture_key)
    WHERE settled_at IS NULL;
ALTER TABLE payments.unapplied_receipt ENABLE ROW LEVEL SECURITY;
ALTER TABLE payments.unapplied_receipt FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON payments.unapplied_receipt TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
CREATE POLICY in_city ON payments.unapplied_receipt AS RESTRICTIVE TO admitone_app
    USING (kernel.in_city(city_code)) WITH CHECK (kernel.in_city(city_code));
GRANT SELECT, INSERT ON payments.unapplied_receipt TO admitone_app;
GRANT UPDATE (state, settled_at) ON payments.unapplied_receipt TO admitone_app;


-- TENANT: the organisation's account at a provider, one for each and each mode (FIN-004, FIN-020).
CREATE TABLE payments.account (
    organization_id   uuid        NOT NULL REFERENCES kernel.tenant (id),
    provider          text        NOT NULL CHECK (provider IN ('sandbox', 'stripe', 'mercadopago', 'openpix')),
    livemode          boolean     NOT NULL,
    account           text        NOT NULL CHECK (length(account) BETWEEN 1 AND 100),
    type              text        NOT NULL CHECK (type = 'standard'),
    onboarding_status text        NOT NULL CHECK (onboarding_status IN ('PENDING', 'COMPLETE', 'RESTRICTED')),
    charges_enabled   boolean     NOT NULL,
    payouts_enabled   boolean     NOT NULL,
    requirements_due  text[]      NOT NULL CHECK (cardinality(requirements_due) <= 100),
    version           bigint      NOT NULL CHECK (version > 0),
    created_at        timestamptz NOT NULL,
    changed_at        timestamptz NOT NULL,
    PRIMARY KEY (organization_id, provider, livemode),
    -- One that the provider rejected is not complete, whatever else it says of it.
    CHECK (onboarding_status <> 'COMPLETE' OR (charges_enabled AND cardinality(requirements_due) = 0))
);
ALTER TABLE payments.account ENABLE ROW LEVEL SECURITY;
ALTER TABLE payments.account FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON payments.account TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
GRANT SELECT, INSERT, UPDATE ON payments.account TO admitone_app;


-- TENANT: an organisation whose new checkouts wait for somebody to look (FIN-018). Funds are not held (FIN-006).
CREATE TABLE payments.risk_hold (
    organization_id uuid        NOT NULL REFERENCES kernel.tenant (id),
    id              uuid        NOT NULL,
    reason_code     text        NOT NULL CHECK (reason_code ~ '^[A-Z][A-Z0-9_]{2,63}$'),
    placed_by       uuid,
    placed_at       timestamptz NOT NULL,
    lifted_by       uuid,
    lifted_at       timestamptz,
    PRIMARY KEY (organization_id, id)
);
CREATE UNIQUE INDEX risk_hold_standing ON payments.risk_hold (organization_id) WHERE lifted_at IS NULL;
ALTER TABLE payments.risk_hold ENABLE ROW LEVEL SECURITY;
ALTER TABLE payments.risk_hold FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON payments.risk_hold TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
GRANT SELECT, INSERT ON payments.risk_hold TO admitone_app;
GRANT UPDATE (lifted_by, lifted_at) ON payments.risk_hold TO admitone_app;


-- TENANT: how often somebody took something for nothing, by the vertical's own key for it (FIN-082).
CREATE TABLE payments.free_claim (
    organization_id uuid        NOT NULL REFERENCES kernel.tenant (id),
    guard_key       text        NOT NULL CHECK (length(guard_key) BETWEEN 1 AND 200),
    identity_id     uuid        NOT NULL,
    taken           integer     NOT NULL CHECK (taken BETWEEN 0 AND 1000),
    changed_at      timestamptz NOT NULL,
    PRIMARY KEY (organization_id, guard_key, identity_id)
);
ALTER TABLE payments.free_claim ENABLE ROW LEVEL SECURITY;
ALTER TABLE payments.free_claim FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON payments.free_claim TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
GRANT SELECT, INSERT ON payments.free_claim TO admitone_app;
GRANT UPDATE (taken, changed_at) ON payments.free_claim TO admitone_app;


-- REGISTRY: whose an object at a provider is (U-36). Its ids are global, so they are unique over all organisations. An
-- organisation writes and sees its own; only the platform's own scope, which receives webhooks, sees whose others are.
CREATE TABLE payments.provider_ref (
    provider        text        NOT NULL CHECK (provider IN ('sandbox', 'stripe', 'mercadopago', 'openpix')),
    object_type     text        NOT NULL CHECK (object_type IN ('session', 'intent', 'charge', 'pix', 'refund', 'dispute',
                                                        'payout', 'account')),
    object_id       text        NOT NULL CHECK (length(object_id) BETWEEN 1 AND 200),
    organization_id uuid        NOT NULL,
    payment_id      uuid,
    created_at      timestamptz NOT NULL,
    PRIMARY KEY (provider, object_type, object_id),
    CHECK ((object_type IN ('account', 'payout')) = (payment_id IS NULL))
);
ALTER TABLE payments.provider_ref ENABLE ROW LEVEL SECURITY;
ALTER TABLE payments.provider_ref FORCE ROW LEVEL SECURITY;
CREATE POLICY owner_by_function ON payments.provider_ref TO admitone_owner USING (true) WITH CHECK (true);

-- Numbers of the claims that name what is another's: of those nothing is written, and nothing is ever written over.
CREATE FUNCTION payments.put_refs(
    organization uuid, providers text[], types text[], ids text[], payment_ids uuid[], claims integer[], at timestamptz)
RETURNS SETOF integer LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    refused integer[];
BEGIN
    IF organization IS DISTINCT FROM NULLIF(current_setting('app.organization_id', true), '')::uuid THEN
        RAISE EXCEPTION 'another organisation''s references' USING ERRCODE = 'insufficient_privilege';
    END IF;
    SELECT COALESCE(array_agg(DISTINCT v.claim), '{}') INTO refused
      FROM unnest(providers, types, ids, payment_ids, claims) AS v(provider, type, id, payment, claim)
     CROSS JOIN LATERAL (SELECT s.* FROM payments.provider_ref AS s
                          WHERE s.provider = v.provider AND s.object_type = v.type AND s.object_id = v.id
                         OFFSET 0) AS r
     WHERE r.organization_id <> organization OR r.payment_id IS DISTINCT FROM v.payment;
    INSERT INTO payments.provider_ref (provider, object_type, object_id, organization_id, payment_id, created_at)
    SELECT v.provider, v.type, v.id, organization, v.payment, at
      FROM unnest(providers, types, ids, payment_ids, claims) AS v(provider, type, id, payment, claim)
     WHERE v.claim <> ALL (refused)
     ORDER BY v.provider, v.type, v.id
        ON CONFLICT DO NOTHING;
    -- Two claimed the same at once: whoever comes again finds whose it became.
    IF EXISTS (SELECT FROM unnest(providers, types, ids, payment_ids, claims) AS v(provider, type, id, payment, claim)
                CROSS JOIN LATERAL (SELECT s.* FROM payments.provider_ref AS s
                                     WHERE s.provider = v.provider AND s.object_type = v.type AND s.object_id = v.id
                                    OFFSET 0) AS r
                WHERE v.claim <> ALL (refused)
                  AND (r.organization_id <> organization OR r.payment_id IS DISTINCT FROM v.payment)) THEN
        RAISE EXCEPTION 'claimed by another meanwhile' USING ERRCODE = 'serialization_failure';
    END IF;
    RETURN QUERY SELECT unnest(refused);
END
$$;
REVOKE EXECUTE ON FUNCTION payments.put_refs(uuid, text[], text[], text[], uuid[], integer[], timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION payments.put_refs(uuid, text[], text[], text[], uuid[], integer[], timestamptz) TO admitone_app;

CREATE FUNCTION payments.find_refs(
    asking uuid, of_provider text, types text[], ids text[],
    OUT object_type text, OUT object_id text, OUT organization_id uuid, OUT payment_id uuid)
RETURNS SETOF record LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF asking IS DISTINCT FROM NULLIF(current_setting('app.organization_id', true), '')::uuid THEN
        RAISE EXCEPTION 'another organisation''s references' USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN QUERY
    SELECT r.object_type, r.object_id, r.organization_id, r.payment_id
      FROM unnest(types, ids) AS v(type, id)
     CROSS JOIN LATERAL (SELECT s.* FROM payments.provider_ref AS s
                          WHERE s.provider = of_provider AND s.object_type = v.type AND s.object_id = v.id
                         OFFSET 0) AS r
     WHERE asking IN (r.organization_id, '00000000-0000-7000-8000-000000000001');
END
$$;
REVOKE EXECUTE ON FUNCTION payments.find_refs(uuid, text, text[], text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION payments.find_refs(uuid, text, text[], text[]) TO admitone_app;


-- Which of these are stopped, for whoever sells: no more than yes or no to what they name themselves.
CREATE POLICY owner_by_function ON authority.switch FOR SELECT TO admitone_owner USING (true);
CREATE FUNCTION authority.stopped(asking uuid, keys text[], at timestamptz) RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT k.key
      FROM unnest(keys) AS k(key)
     WHERE asking = NULLIF(current_setting('app.organization_id', true), '')::uuid
       AND k.key LIKE 'stop:%'
       AND EXISTS (SELECT FROM authority.switch AS s
                    WHERE s.organization_id = '00000000-0000-7000-8000-000000000001'
                      AND s.key = k.key AND s.expires_at > at)
$$;
REVOKE EXECUTE ON FUNCTION authority.stopped(uuid, text[], timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION authority.stopped(uuid, text[], timestamptz) TO admitone_app;
GRANT USAGE ON SCHEMA authority TO admitone_app;
