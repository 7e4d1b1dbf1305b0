CREATE TABLE `accounts` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`email` text,
	`state` text DEFAULT 'active' NOT NULL,
	`created_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `accounts_name_unique` ON `accounts` (`name`);--> statement-breakpoint
CREATE TABLE `api_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`name` text NOT NULL,
	`hint` text NOT NULL,
	`digest` text NOT NULL,
	`requests_per_minute` integer,
	`tokens_per_minute` integer,
	`concurrent_requests` integer,
	`models` text,
	`allows_clamp` integer DEFAULT false NOT NULL,
	`created_at_ms` integer NOT NULL,
	`expires_at_ms` integer,
	`revoked_at_ms` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `api_keys_digest_unique` ON `api_keys` (`digest`);--> statement-breakpoint
CREATE INDEX `api_keys_account` ON `api_keys` (`account_id`);--> statement-breakpoint
CREATE TABLE `holds` (
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
	PRIMARY KEY(`wallet_id`, `hold_id`),
	CONSTRAINT "holds_refunded" CHECK("holds"."refunded" BETWEEN 0 AND "holds"."captured")
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `holds_open` ON `holds` (`expires_at_ms`) WHERE state = 'held';--> statement-breakpoint
CREATE TABLE `limit_counters` (
	`wallet_id` text NOT NULL,
	`limit_id` text NOT NULL,
	`period_start_ms` integer NOT NULL,
	`used` integer NOT NULL,
	`held` integer NOT NULL,
	PRIMARY KEY(`wallet_id`, `limit_id`, `period_start_ms`),
	CONSTRAINT "limit_counters_counts" CHECK("limit_counters"."used" >= 0 AND "limit_counters"."held" >= 0)
);
--> statement-breakpoint
CREATE TABLE `spend_limits` (
	`wallet_id` text NOT NULL,
	`limit_id` text NOT NULL,
	`key_id` text,
	`period` text NOT NULL,
	`amount` integer NOT NULL,
	PRIMARY KEY(`wallet_id`, `limit_id`)
);
--> statement-breakpoint
CREATE INDEX `spend_limits_key` ON `spend_limits` (`wallet_id`,`key_id`);--> statement-breakpoint
CREATE TABLE `transfers` (
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
	PRIMARY KEY(`wallet_id`, `seq`),
	CONSTRAINT "transfers_amount" CHECK("transfers"."amount" > 0),
	CONSTRAINT "transfers_accounts" CHECK("transfers"."debit_account" <> "transfers"."credit_account")
) WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `transfers_once` ON `transfers` (`wallet_id`,`transfer_id`,`kind`);--> statement-breakpoint
CREATE TABLE `wallets` (
	`wallet_id` text PRIMARY KEY NOT NULL,
	`posted` integer NOT NULL,
	`held` integer NOT NULL,
	`credit_limit` integer NOT NULL,
	`state` text NOT NULL,
	`last_seq` integer NOT NULL,
	`created_at_ms` integer NOT NULL,
	CONSTRAINT "wallets_held" CHECK("wallets"."held" >= 0)
);
