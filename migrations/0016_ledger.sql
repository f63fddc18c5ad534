-- why: the ledger: transfers that are only ever added, balances that follow them, and the seals that prove them
-- lock: none, every object is new
-- phase: expand

CREATE SCHEMA ledger;
GRANT USAGE ON SCHEMA ledger TO admitone_app, admitone_relay;

-- TENANT: every movement of money there ever was. Append-only: what was wrong is put right by another one. Debits equal
-- credits because a row is both. Which type goes with which accounts, and so with which sign, is the table of templates.
CREATE TABLE ledger.transfer (
    organization_id uuid        NOT NULL REFERENCES kernel.tenant (id),
    id              uuid        NOT NULL,
    transaction_id  uuid        NOT NULL,
    city_code       text        NOT NULL CHECK (city_code ~ '^[A-Z]{3,8}$'),
    payee_id        uuid        NOT NULL,
    entry_type      text        NOT NULL,
    event           text        NOT NULL CHECK (length(event) BETWEEN 1 AND 40),
    flow            text        NOT NULL CHECK (length(flow) BETWEEN 1 AND 40),
    line            integer     NOT NULL CHECK (line >= 0),
    debit_account   text        NOT NULL,
    credit_account  text        NOT NULL,
    amount_minor    bigint      NOT NULL CHECK (amount_minor BETWEEN 1 AND 9007199254740991),
    currency        text        NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    payment_id      uuid,
    source_type     text        CHECK (length(source_type) BETWEEN 1 AND 40),
    source_id       text        CHECK (length(source_id) BETWEEN 1 AND 64),
    causation_id    text        NOT NULL CHECK (length(causation_id) BETWEEN 1 AND 200),
    correlation_id  uuid        NOT NULL,
    reference       text        CHECK (length(reference) BETWEEN 1 AND 200),
    metadata        jsonb       CHECK (jsonb_typeof(metadata) = 'object' AND octet_length(metadata::text) <= 1000),
    posted_at       timestamptz NOT NULL,
    PRIMARY KEY (organization_id, id),
    -- Once for each cause (CF-38). A payout belongs to no payment, and is posted once all the same.
    CONSTRAINT transfer_once UNIQUE NULLS NOT DISTINCT (organization_id, payment_id, entry_type, causation_id, line),
    CHECK ((source_type IS NULL) = (source_id IS NULL)),
    CHECK (debit_account <> credit_account),
    CONSTRAINT transfer_is_of_a_template CHECK ((entry_type || ' ' || debit_account || ' ' || credit_account) IN (
        'CAMPAIGN_CHARGEBACK deferred_revenue disputed_funds',
        'CAMPAIGN_EARNED deferred_revenue coupon_revenue',
        'CAMPAIGN_PREPAYMENT merchant_account deferred_revenue',
        'CAMPAIGN_REFUND deferred_revenue refunds_payable',
        'CAMPAIGN_REFUND_MIRROR refunds_payable deferred_revenue',
        'CHARGEBACK_GROSS customer_deposits disputed_funds',
        'CHARGEBACK_GROSS org_payable disputed_funds',
        'CHARGEBACK_PLATFORM_FEE_REVERSAL commission_revenue org_payable',
        'CHARGEBACK_PLATFORM_FEE_REVERSAL commissions_payable customer_deposits',
        'CHARGEBACK_PLATFORM_FEE_REVERSAL platform_fee_revenue org_payable',
        'COMMISSION_EARNED commissions_payable commission_revenue',
        'COMMISSION_SWEEP merchant_account cash_reserve',
        'DISPUTE_FEE org_payable merchant_account',
        'DISPUTE_FEE_REVERSAL merchant_account org_payable',
        'DISPUTE_FUNDS_REINSTATED cash_reserve disputed_funds',
        'DISPUTE_FUNDS_REINSTATED merchant_account disputed_funds',
        'DISPUTE_FUNDS_WITHDRAWN disputed_funds cash_reserve',
        'DISPUTE_FUNDS_WITHDRAWN disputed_funds merchant_account',
        'GROSS cash_reserve customer_deposits',
        'GROSS merchant_account org_payable',
        'PAYOUT_DUE customer_deposits org_payable',
        'PAYOUT_FAILED payouts_in_transit org_settlements',
        'PAYOUT_INITIATED org_settlements payouts_in_transit',
        'PAYOUT_PAID payouts_in_transit cash_reserve',
        'PLATFORM_FEE customer_deposits commissions_payable',
        'PLATFORM_FEE org_payable platform_fee_revenue',
        'PROCESSOR_FEES_ADJUSTMENT gateway_fee_expense merchant_account',
        'PROCESSOR_FEES_ADJUSTMENT merchant_account gateway_fee_expense',
        'PROCESSOR_FEES_ADJUSTMENT merchant_account org_payable',
        'PROCESSOR_FEES_ADJUSTMENT org_payable merchant_account',
        'PROCESSOR_FEES_FINAL gateway_fee_expense gateway_fees_payable',
        'PROCESSOR_FEES_FINAL org_payable merchant_account',
        'PROCESSOR_FEES_SETTLED gateway_fees_payable merchant_account',
        'RECON_ROUNDING cash_reserve rounding_adjustment',
        'RECON_ROUNDING merchant_account rounding_adjustment',
        'RECON_ROUNDING rounding_adjustment cash_reserve',
        'RECON_ROUNDING rounding_adjustment merchant_account',
        'REFUND_GROSS customer_deposits refunds_payable',
        'REFUND_GROSS org_payable refunds_payable',
        'REFUND_GROSS_MIRROR refunds_payable customer_deposits',
        'REFUND_GROSS_MIRROR refunds_payable org_payable',
        'REFUND_PLATFORM_FEE_MIRROR customer_deposits commissions_payable',
        'REFUND_PLATFORM_FEE_MIRROR org_payable commission_revenue',
        'REFUND_PLATFORM_FEE_MIRROR org_payable platform_fee_revenue',
        'REFUND_PLATFORM_FEE_REVERSAL commission_revenue org_payable',
        'REFUND_PLATFORM_FEE_REVERSAL commissions_payable customer_deposits',
        'REFUND_PLATFORM_FEE_REVERSAL platform_fee_revenue org_payable',
        'REFUND_PROCESSOR_FEES_REVERSAL merchant_account gateway_fee_expense',
        'REFUND_PROCESSOR_FEES_REVERSAL merchant_account org_payable',
        'REFUND_SETTLED refunds_payable cash_reserve',
        'REFUND_SETTLED refunds_payable merchant_account',
        'REFUND_SETTLED_MIRROR cash_reserve refunds_payable',
        'REFUND_SETTLED_MIRROR merchant_account refunds_payable',
        'RESALE_SELLER_SHARE org_payable resale_seller_payable',
        'SELLER_PAID resale_seller_payable merchant_account',
        'TAX_REMITTED tax_payable cash_reserve',
        'TAX_WITHHELD customer_deposits tax_payable',
        'TRANSFER_REVERSAL merchant_account org_settlements',
        'TRANSFER_REVERSAL_MIRROR org_settlements merchant_account',
        'TRANSFER_TO_ORG org_settlements merchant_account',
        'UNAPPLIED_APPLIED unapplied_receipts cash_reserve',
        'UNAPPLIED_APPLIED unapplied_receipts merchant_account',
        'UNAPPLIED_CHARGEBACK unapplied_receipts disputed_funds',
        'UNAPPLIED_RECEIPT cash_reserve unapplied_receipts',
        'UNAPPLIED_RECEIPT merchant_account unapplied_receipts',
        'UNAPPLIED_REFUND unapplied_receipts refunds_payable',
        'UNAPPLIED_REFUND_MIRROR refunds_payable unapplied_receipts'
    ))
);
-- A page of a statement is the end of one of these and of the other.
CREATE INDEX transfer_debits ON ledger.transfer (organization_id, debit_account, payee_id, currency, posted_at, id);
CREATE INDEX transfer_credits ON ledger.transfer (organization_id, credit_account, payee_id, currency, posted_at, id);
ALTER TABLE ledger.transfer ENABLE ROW LEVEL SECURITY;
ALTER TABLE ledger.transfer FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON ledger.transfer TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
CREATE POLICY in_city ON ledger.transfer AS RESTRICTIVE TO admitone_app
    USING (kernel.in_city(city_code)) WITH CHECK (kernel.in_city(city_code));
GRANT SELECT, INSERT ON ledger.transfer TO admitone_app;


-- TENANT: what one transaction moved in one city, until a roller folds it into the balances and seals its transfers: so
-- those who post on the same account never wait for each other. The arrays are one row per account, payee and currency.
CREATE TABLE ledger.delta (
    organization_id uuid        NOT NULL REFERENCES kernel.tenant (id),
    id              uuid        NOT NULL,
    city_code       text        NOT NULL CHECK (city_code ~ '^[A-Z]{3,8}$'),
    day             date        NOT NULL,
    accounts        text[]      NOT NULL CHECK (cardinality(accounts) > 0),
    payees          uuid[]      NOT NULL CHECK (cardinality(payees) = cardinality(accounts)),
    currencies      text[]      NOT NULL CHECK (cardinality(currencies) = cardinality(accounts)),
    debits          bigint[]    NOT NULL CHECK (cardinality(debits) = cardinality(accounts)),
    credits         bigint[]    NOT NULL CHECK (cardinality(credits) = cardinality(accounts)),
    transfers       uuid[]      NOT NULL CHECK (cardinality(transfers) > 0),
    posted_at       timestamptz NOT NULL,
    PRIMARY KEY (organization_id, id)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE ledger.delta ENABLE ROW LEVEL SECURITY;
ALTER TABLE ledger.delta FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON ledger.delta TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
CREATE POLICY in_city ON ledger.delta AS RESTRICTIVE TO admitone_app
    USING (kernel.in_city(city_code)) WITH CHECK (kernel.in_city(city_code));
-- Nobody changes a delta; the right to is what locking one takes.
GRANT SELECT, INSERT, UPDATE (posted_at), DELETE ON ledger.delta TO admitone_app;
-- Whose there are: what in them stands is their organisation's.
CREATE POLICY relay_finds ON ledger.delta FOR SELECT TO admitone_relay USING (true);
GRANT SELECT (organization_id) ON ledger.delta TO admitone_relay;


-- TENANT: the fold of the deltas that were rolled.
CREATE TABLE ledger.balance (
    organization_id uuid        NOT NULL REFERENCES kernel.tenant (id),
    account         text        NOT NULL,
    payee_id        uuid        NOT NULL,
    currency        text        NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    city_code       text        NOT NULL CHECK (city_code ~ '^[A-Z]{3,8}$'),
    debits_minor    bigint      NOT NULL CHECK (debits_minor >= 0),
    credits_minor   bigint      NOT NULL CHECK (credits_minor >= 0),
    PRIMARY KEY (organization_id, account, payee_id, currency, city_code)
) WITH (fillfactor = 50);
ALTER TABLE ledger.balance ENABLE ROW LEVEL SECURITY;
ALTER TABLE ledger.balance FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON ledger.balance TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
CREATE POLICY in_city ON ledger.balance AS RESTRICTIVE TO admitone_app
    USING (kernel.in_city(city_code)) WITH CHECK (kernel.in_city(city_code));
GRANT SELECT, INSERT, UPDATE ON ledger.balance TO admitone_app;


-- TENANT: the same, of each day in UTC.
CREATE TABLE ledger.balance_day (
    organization_id uuid        NOT NULL REFERENCES kernel.tenant (id),
    account         text        NOT NULL,
    payee_id        uuid        NOT NULL,
    currency        text        NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    day             date        NOT NULL,
    city_code       text        NOT NULL CHECK (city_code ~ '^[A-Z]{3,8}$'),
    debits_minor    bigint      NOT NULL CHECK (debits_minor >= 0),
    credits_minor   bigint      NOT NULL CHECK (credits_minor >= 0),
    PRIMARY KEY (organization_id, account, payee_id, currency, day, city_code)
) WITH (fillfactor = 50);
ALTER TABLE ledger.balance_day ENABLE ROW LEVEL SECURITY;
ALTER TABLE ledger.balance_day FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON ledger.balance_day TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
CREATE POLICY in_city ON ledger.balance_day AS RESTRICTIVE TO admitone_app
    USING (kernel.in_city(city_code)) WITH CHECK (kernel.in_city(city_code));
GRANT SELECT, INSERT, UPDATE ON ledger.balance_day TO admitone_app;


-- TENANT: seals, each over some transfers and over the seal before it; `total` counts them all. Append-only.
CREATE TABLE ledger.seal (
    organization_id uuid        NOT NULL REFERENCES kernel.tenant (id),
    number          bigint      NOT NULL CHECK (number > 0),
    previous_hash   bytea       NOT NULL CHECK (octet_length(previous_hash) = 32),
    hash            bytea       NOT NULL CHECK (octet_length(hash) = 32),
    transfers       integer     NOT NULL CHECK (transfers > 0),
    total           bigint      NOT NULL CHECK (total >= transfers),
    sealed_at       timestamptz NOT NULL,
    PRIMARY KEY (organization_id, number)
);
ALTER TABLE ledger.seal ENABLE ROW LEVEL SECURITY;
ALTER TABLE ledger.seal FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON ledger.seal TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
GRANT SELECT, INSERT ON ledger.seal TO admitone_app;


-- TENANT: what is under which seal, and in which order, with the hash of what it was. Append-only; nothing is sealed twice.
CREATE TABLE ledger.seal_member (
    organization_id uuid        NOT NULL REFERENCES kernel.tenant (id),
    seal            bigint      NOT NULL,
    ordinal         integer     NOT NULL CHECK (ordinal > 0),
    transfer_id     uuid        NOT NULL,
    digest          bytea       NOT NULL CHECK (octet_length(digest) = 32),
    PRIMARY KEY (organization_id, seal, ordinal),
    UNIQUE (organization_id, transfer_id)
);
ALTER TABLE ledger.seal_member ENABLE ROW LEVEL SECURITY;
ALTER TABLE ledger.seal_member FORCE ROW LEVEL SECURITY;
CREATE POLICY app_own ON ledger.seal_member TO admitone_app
    USING      (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid)
    WITH CHECK (organization_id = NULLIF(current_setting('app.organization_id', true), '')::uuid);
GRANT SELECT, INSERT ON ledger.seal_member TO admitone_app;


-- ORYA's entries (FIN-041): the lines on a payee's position, signed. What moves inside the position is two of them.
CREATE VIEW ledger.ledger_entry WITH (security_invoker = true) AS
    SELECT t.organization_id, t.id, s.account, t.transaction_id, t.payee_id, t.city_code, t.entry_type,
           s.amount_signed, t.currency, t.payment_id, t.source_type, t.source_id, t.line, t.causation_id,
           t.correlation_id, t.posted_at AS created_at
      FROM ledger.transfer AS t
     CROSS JOIN LATERAL (VALUES (t.debit_account, -t.amount_minor), (t.credit_account, t.amount_minor))
        AS s (account, amount_signed)
     WHERE s.account IN ('customer_deposits', 'org_payable');
GRANT SELECT ON ledger.ledger_entry TO admitone_app;


-- The journal of 004 (MOR-002): two lines for each transfer, in its words for types and accounts (MOR-004, MOR-005). The
-- debit line has the transfer's id, the credit line the same one as a UUID of version 8. Finance knows no properties:
-- whoever does finds them by the booking.
CREATE VIEW ledger.journal_line WITH (security_invoker = true) AS
    SELECT t.organization_id, t.id AS transfer_id,
           CASE s.direction WHEN 'debit' THEN t.id ELSE overlay(t.id::text PLACING '8' FROM 15)::uuid END AS entry_id,
           t.transaction_id,
           CASE t.source_type WHEN 'STAY_RESERVATION' THEN t.source_id END AS booking_id,
           NULL::uuid AS property_id,
           t.city_code,
           CASE t.entry_type
               WHEN 'GROSS' THEN 'payment_received'
               WHEN 'PLATFORM_FEE' THEN 'commission_taken'
               WHEN 'PROCESSOR_FEES_FINAL' THEN 'gateway_fee'
               WHEN 'PROCESSOR_FEES_ADJUSTMENT' THEN 'gateway_fee'
               WHEN 'DISPUTE_FEE' THEN 'gateway_fee'
               WHEN 'DISPUTE_FEE_REVERSAL' THEN 'gateway_fee'
               WHEN 'REFUND_GROSS' THEN 'refund_processed'
               WHEN 'REFUND_PLATFORM_FEE_REVERSAL' THEN 'refund_processed'
               WHEN 'REFUND_PROCESSOR_FEES_REVERSAL' THEN 'refund_processed'
               WHEN 'CHARGEBACK_GROSS' THEN 'refund_processed'
               WHEN 'CHARGEBACK_PLATFORM_FEE_REVERSAL' THEN 'refund_processed'
               WHEN 'TAX_WITHHELD' THEN 'tax_withheld'
               WHEN 'PAYOUT_DUE' THEN 'payout_due'
               WHEN 'RESALE_SELLER_SHARE' THEN 'payout_due'
               WHEN 'REFUND_GROSS_MIRROR' THEN 'refund_processed'
               WHEN 'REFUND_PLATFORM_FEE_MIRROR' THEN 'refund_processed'
               WHEN 'TRANSFER_TO_ORG' THEN 'payout_due'
               WHEN 'TRANSFER_REVERSAL' THEN 'payout_due'
               WHEN 'TRANSFER_REVERSAL_MIRROR' THEN 'payout_due'
               WHEN 'PROCESSOR_FEES_SETTLED' THEN 'gateway_fee'
               WHEN 'REFUND_SETTLED' THEN 'refund_processed'
               WHEN 'REFUND_SETTLED_MIRROR' THEN 'refund_processed'
               WHEN 'DISPUTE_FUNDS_WITHDRAWN' THEN 'refund_processed'
               WHEN 'DISPUTE_FUNDS_REINSTATED' THEN 'refund_processed'
               WHEN 'COMMISSION_EARNED' THEN 'commission_taken'
               WHEN 'COMMISSION_SWEEP' THEN 'commission_taken'
               WHEN 'TAX_REMITTED' THEN 'tax_withheld'
               WHEN 'PAYOUT_INITIATED' THEN 'payout_due'
               WHEN 'PAYOUT_PAID' THEN 'payout_due'
               WHEN 'PAYOUT_FAILED' THEN 'payout_due'
               WHEN 'SELLER_PAID' THEN 'payout_due'
               WHEN 'UNAPPLIED_RECEIPT' THEN 'payment_received'
               WHEN 'UNAPPLIED_APPLIED' THEN 'payment_received'
               WHEN 'UNAPPLIED_REFUND' THEN 'refund_processed'
               WHEN 'UNAPPLIED_REFUND_MIRROR' THEN 'refund_processed'
               WHEN 'UNAPPLIED_CHARGEBACK' THEN 'refund_processed'
               WHEN 'CAMPAIGN_PREPAYMENT' THEN 'payment_received'
               WHEN 'CAMPAIGN_EARNED' THEN 'commission_taken'
               WHEN 'CAMPAIGN_REFUND' THEN 'refund_processed'
               WHEN 'CAMPAIGN_REFUND_MIRROR' THEN 'refund_processed'
               WHEN 'CAMPAIGN_CHARGEBACK' THEN 'refund_processed'
               WHEN 'RECON_ROUNDING' THEN 'gateway_fee'
           END AS entry_type,
           t.amount_minor AS amount, s.direction,
           CASE s.account
               WHEN 'cash_reserve' THEN 'cash_reserve'
               WHEN 'merchant_account' THEN 'merchant_account'
               WHEN 'disputed_funds' THEN 'disputed_funds'
               WHEN 'org_settlements' THEN 'payouts_receivable'
               WHEN 'customer_deposits' THEN 'customer_deposits'
               WHEN 'org_payable' THEN 'payouts_receivable'
               WHEN 'refunds_payable' THEN 'refunds_payable'
               WHEN 'commissions_payable' THEN 'commissions_payable'
               WHEN 'gateway_fees_payable' THEN 'gateway_fees_receivable'
               WHEN 'tax_payable' THEN 'tax_payable'
               WHEN 'payouts_in_transit' THEN 'payouts_in_transit'
               WHEN 'resale_seller_payable' THEN 'resale_seller_payable'
               WHEN 'unapplied_receipts' THEN 'unapplied_receipts'
               WHEN 'deferred_revenue' THEN 'deferred_revenue'
               WHEN 'platform_fee_revenue' THEN 'commission_revenue'
               WHEN 'commission_revenue' THEN 'commission_revenue'
               WHEN 'coupon_revenue' THEN 'coupon_revenue'
               WHEN 'gateway_fee_expense' THEN 'gateway_fee_expense'
               WHEN 'rounding_adjustment' THEN 'rounding_adjustment'
           END AS account,
           CASE s.account
               WHEN 'cash_reserve' THEN 'gateway'
               WHEN 'merchant_account' THEN 'gateway'
               WHEN 'disputed_funds' THEN 'customer'
               WHEN 'org_settlements' THEN 'owner'
               WHEN 'customer_deposits' THEN 'customer'
               WHEN 'org_payable' THEN 'owner'
               WHEN 'refunds_payable' THEN 'customer'
               WHEN 'commissions_payable' THEN 'owner'
               WHEN 'gateway_fees_payable' THEN 'gateway'
               WHEN 'tax_payable' THEN 'owner'
               WHEN 'payouts_in_transit' THEN 'owner'
               WHEN 'resale_seller_payable' THEN 'customer'
               WHEN 'unapplied_receipts' THEN 'customer'
               WHEN 'deferred_revenue' THEN 'owner'
               WHEN 'platform_fee_revenue' THEN 'owner'
               WHEN 'commission_revenue' THEN 'owner'
               WHEN 'coupon_revenue' THEN 'owner'
               WHEN 'gateway_fee_expense' THEN 'gateway'
               WHEN 'rounding_adjustment' THEN 'gateway'
           END AS counterparty,
           COALESCE(t.metadata, '{}') ||
           jsonb_build_object('entryType', t.entry_type, 'account', s.account, 'event', t.event, 'flow', t.flow,
                              'line', t.line, 'reference', t.reference) AS metadata,
           t.posted_at AS created_at, t.payee_id, t.payment_id, t.causation_id, t.correlation_id, t.currency
      FROM ledger.transfer AS t
     CROSS JOIN LATERAL (VALUES ('debit', t.debit_account), ('credit', t.credit_account)) AS s (direction, account);
GRANT SELECT ON ledger.journal_line TO admitone_app;
