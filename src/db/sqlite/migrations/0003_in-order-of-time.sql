-- Rows lie in the order of time, so that what many wallets write at once is written in one place.
CREATE TABLE `__new_transfers` (
	`wallet_id` text NOT NULL,
	`seq` integer NOT NULL,
	`transfer_id` text NOT NULL,
	`kind` integer NOT NULL,
	`debit_account` integer NOT NULL,
	`credit_account` integer NOT NULL,
	`amount` integer NOT NULL,
	`posted_after` integer NOT NULL,
	`hold_id` text,
	`created_at_ms` integer NOT NULL,
	CONSTRAINT "transfers_amount" CHECK("__new_transfers"."amount" > 0),
	CONSTRAINT "transfers_accounts" CHECK("__new_transfers"."debit_account" <> "__new_transfers"."credit_account")
);
--> statement-breakpoint
INSERT INTO `__new_transfers`("wallet_id", "seq", "transfer_id", "kind", "debit_account", "credit_account", "amount", "posted_after", "hold_id", "created_at_ms") SELECT "wallet_id", "seq", "transfer_id", "kind", "debit_account", "credit_account", "amount", "posted_after", "hold_id", "created_at_ms" FROM `transfers` ORDER BY "created_at_ms", "wallet_id", "seq";--> statement-breakpoint
DROP TABLE `transfers`;--> statement-breakpoint
ALTER TABLE `__new_transfers` RENAME TO `transfers`;--> statement-breakpoint
CREATE UNIQUE INDEX `transfers_once` ON `transfers` (`transfer_id`,`kind`,`wallet_id`);--> statement-breakpoint
CREATE TRIGGER `transfers_never_change` BEFORE UPDATE ON `transfers`
BEGIN
	SELECT RAISE(ABORT, 'transfers are append-only');
END;
--> statement-breakpoint
CREATE TRIGGER `transfers_never_go` BEFORE DELETE ON `transfers`
BEGIN
	SELECT RAISE(ABORT, 'transfers are append-only');
END;
--> statement-breakpoint
CREATE TABLE `__new_holds` (
	`wallet_id` text NOT NULL,
	`hold_id` text NOT NULL,
	`key_id` text NOT NULL,
	`state` text NOT NULL,
	`late` integer NOT NULL,
	`requested` integer NOT NULL,
	`minimum` integer NOT NULL,
	`granted` integer NOT NULL,
	`accrued` integer NOT NULL,
	`actual` integer,
	`captured` integer NOT NULL,
	`refunded` integer NOT NULL,
	`ttl_ms` integer NOT NULL,
	`created_at_ms` integer NOT NULL,
	`expires_at_ms` integer NOT NULL,
	`resolved_at_ms` integer,
	`limits` text,
	`surface` text NOT NULL,
	`model` text NOT NULL,
	`metadata` text,
	`settle_metadata` text,
	`outcome` text,
	`source` text,
	`upstream` text,
	`upstream_model` text,
	`price_input` integer,
	`price_output` integer,
	`price_cached_input` integer,
	`price_cache_write` integer,
	`price_cache_write_1h` integer,
	`input_tokens` integer,
	`cached_input_tokens` integer,
	`cache_write_tokens` integer,
	`cache_write_1h_tokens` integer,
	`output_tokens` integer,
	`first_output_ms` integer,
	`total_ms` integer,
	`attempts` text,
	PRIMARY KEY(`hold_id`, `wallet_id`),
	CONSTRAINT "holds_refunded" CHECK("__new_holds"."refunded" BETWEEN 0 AND "__new_holds"."captured")
) WITHOUT ROWID;
--> statement-breakpoint
INSERT INTO `__new_holds`("wallet_id", "hold_id", "key_id", "state", "late", "requested", "minimum", "granted", "accrued", "actual", "captured", "refunded", "ttl_ms", "created_at_ms", "expires_at_ms", "resolved_at_ms", "limits", "surface", "model", "metadata", "settle_metadata", "outcome", "source", "upstream", "upstream_model", "price_input", "price_output", "price_cached_input", "price_cache_write", "price_cache_write_1h", "input_tokens", "cached_input_tokens", "cache_write_tokens", "cache_write_1h_tokens", "output_tokens", "first_output_ms", "total_ms", "attempts") SELECT "wallet_id", "hold_id", "key_id", "state", "late", "requested", "minimum", "granted", "accrued", "actual", "captured", "refunded", "ttl_ms", "created_at_ms", "expires_at_ms", "resolved_at_ms", "limits", "surface", "model", "metadata", "settle_metadata", "outcome", "source", "upstream", "upstream_model", "price_input", "price_output", "price_cached_input", "price_cache_write", "price_cache_write_1h", "input_tokens", "cached_input_tokens", "cache_write_tokens", "cache_write_1h_tokens", "output_tokens", "first_output_ms", "total_ms", "attempts" FROM `holds` ORDER BY "hold_id", "wallet_id";--> statement-breakpoint
DROP TABLE `holds`;--> statement-breakpoint
ALTER TABLE `__new_holds` RENAME TO `holds`;--> statement-breakpoint
CREATE INDEX `holds_open` ON `holds` (`expires_at_ms`) WHERE state = 'held';
