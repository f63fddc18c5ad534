-- why: when more of a campaign's money goes back than is still deferred, the income of weeks that ran goes back with it
-- lock: ACCESS EXCLUSIVE on ledger.transfer, for a moment: 0045 looks at the rows
-- phase: expand

ALTER TABLE ledger.transfer DROP CONSTRAINT transfer_is_of_a_template;
ALTER TABLE ledger.transfer
    ADD CONSTRAINT transfer_is_of_a_template CHECK ((entry_type || ' ' || debit_account || ' ' || credit_account) IN (
        'ACCOUNT_FEE gateway_fee_expense merchant_account',
        'ACCOUNT_FEE_RETURNED merchant_account gateway_fee_expense',
        'BANK_PAYOUT bank_account merchant_account',
        'BANK_PAYOUT_RETURNED merchant_account bank_account',
        'CAMPAIGN_CHARGEBACK deferred_revenue disputed_funds',
        'CAMPAIGN_EARNED deferred_revenue coupon_revenue',
        'CAMPAIGN_PREPAYMENT merchant_account deferred_revenue',
        'CAMPAIGN_REFUND deferred_revenue refunds_payable',
        'CAMPAIGN_REFUND_MIRROR refunds_payable deferred_revenue',
        'CAMPAIGN_UNEARNED coupon_revenue deferred_revenue',
        'CHARGEBACK_GROSS customer_deposits disputed_funds',
        'CHARGEBACK_GROSS org_payable disputed_funds',
        'CHARGEBACK_PLATFORM_FEE_REVERSAL commission_revenue org_payable',
        'CHARGEBACK_PLATFORM_FEE_REVERSAL commissions_payable customer_deposits',
        'CHARGEBACK_PLATFORM_FEE_REVERSAL platform_fee_revenue org_payable',
        'COMMISSION_EARNED commissions_payable commission_revenue',
        'COMMISSION_SWEEP cash_reserve merchant_account',
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
    )) NOT VALID;

-- As it was, with the word for the new type.
CREATE OR REPLACE VIEW ledger.journal_line WITH (security_invoker = true) AS
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
               WHEN 'CAMPAIGN_UNEARNED' THEN 'refund_processed'
               WHEN 'CAMPAIGN_REFUND' THEN 'refund_processed'
               WHEN 'CAMPAIGN_REFUND_MIRROR' THEN 'refund_processed'
               WHEN 'CAMPAIGN_CHARGEBACK' THEN 'refund_processed'
               WHEN 'RECON_ROUNDING' THEN 'gateway_fee'
               WHEN 'BANK_PAYOUT' THEN 'payout_due'
               WHEN 'BANK_PAYOUT_RETURNED' THEN 'payout_due'
               WHEN 'ACCOUNT_FEE' THEN 'gateway_fee'
               WHEN 'ACCOUNT_FEE_RETURNED' THEN 'gateway_fee'
           END AS entry_type,
           t.amount_minor AS amount, s.direction,
           CASE s.account
               WHEN 'cash_reserve' THEN 'cash_reserve'
               WHEN 'merchant_account' THEN 'merchant_account'
               WHEN 'bank_account' THEN 'bank_account'
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
               WHEN 'bank_account' THEN 'gateway'
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
