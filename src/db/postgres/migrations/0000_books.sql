CREATE TABLE "accounts" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"email" text COLLATE "C",
	"state" text COLLATE "C" DEFAULT 'active' NOT NULL,
	"created_at_ms" bigint NOT NULL,
	CONSTRAINT "accounts_name_unique" UNIQUE("name")
);
--> statement-breakpoint
CREATE TABLE "api_keys" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"account_id" text COLLATE "C" NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"hint" text COLLATE "C" NOT NULL,
	"digest" text COLLATE "C" NOT NULL,
	"requests_per_minute" bigint,
	"tokens_per_minute" bigint,
	"concurrent_requests" bigint,
	"models" text,
	"allows_clamp" boolean DEFAULT false NOT NULL,
	"created_at_ms" bigint NOT NULL,
	"expires_at_ms" bigint,
	"revoked_at_ms" bigint,
	CONSTRAINT "api_keys_digest_unique" UNIQUE("digest")
);
--> statement-breakpoint
CREATE TABLE "holds" (
	"wallet_id" text COLLATE "C" NOT NULL,
	"hold_id" uuid NOT NULL,
	"key_id" text COLLATE "C" NOT NULL,
	"state" text COLLATE "C" NOT NULL,
	"late" boolean NOT NULL,
	"requested" bigint NOT NULL,
	"minimum" bigint NOT NULL,
	"granted" bigint NOT NULL,
	"accrued" bigint NOT NULL,
	"actual" bigint,
	"captured" bigint NOT NULL,
	"refunded" bigint NOT NULL,
	"ttl_ms" bigint NOT NULL,
	"created_at_ms" bigint NOT NULL,
	"expires_at_ms" bigint NOT NULL,
	"resolved_at_ms" bigint,
	"limits" json,
	"surface" text COLLATE "C" NOT NULL,
	"model" text COLLATE "C" NOT NULL,
	"metadata" json,
	"settle_metadata" json,
	"outcome" text COLLATE "C",
	"source" text COLLATE "C",
	"upstream" text COLLATE "C",
	"upstream_model" text COLLATE "C",
	"price_input" bigint,
	"price_output" bigint,
	"price_cached_input" bigint,
	"price_cache_write" bigint,
	"price_cache_write_1h" bigint,
	"input_tokens" bigint,
	"cached_input_tokens" bigint,
	"cache_write_tokens" bigint,
	"cache_write_1h_tokens" bigint,
	"output_tokens" bigint,
	"first_output_ms" bigint,
	"total_ms" bigint,
	"attempts" json,
	CONSTRAINT "holds_wallet_id_hold_id_pk" PRIMARY KEY("wallet_id","hold_id"),
	CONSTRAINT "holds_refunded" CHECK ("holds"."refunded" BETWEEN 0 AND "holds"."captured")
) PARTITION BY RANGE ("hold_id");
--> statement-breakpoint
CREATE TABLE "limit_counters" (
	"wallet_id" text COLLATE "C" NOT NULL,
	"limit_id" text COLLATE "C" NOT NULL,
	"period_start_ms" bigint NOT NULL,
	"used" bigint NOT NULL,
	"held" bigint NOT NULL,
	CONSTRAINT "limit_counters_wallet_id_limit_id_period_start_ms_pk" PRIMARY KEY("wallet_id","limit_id","period_start_ms"),
	CONSTRAINT "limit_counters_counts" CHECK ("limit_counters"."used" >= 0 AND "limit_counters"."held" >= 0)
);
--> statement-breakpoint
CREATE TABLE "spend_limits" (
	"wallet_id" text COLLATE "C" NOT NULL,
	"limit_id" text COLLATE "C" NOT NULL,
	"key_id" text COLLATE "C",
	"period" text COLLATE "C" NOT NULL,
	"time_zone" text COLLATE "C",
	"amount" bigint NOT NULL,
	"deleted_at_ms" bigint,
	CONSTRAINT "spend_limits_wallet_id_limit_id_pk" PRIMARY KEY("wallet_id","limit_id")
);
--> statement-breakpoint
CREATE TABLE "transfers" (
	"wallet_id" text COLLATE "C" NOT NULL,
	"seq" bigint NOT NULL,
	"transfer_id" text COLLATE "C" NOT NULL,
	"kind" smallint NOT NULL,
	"debit_account" smallint NOT NULL,
	"credit_account" smallint NOT NULL,
	"amount" bigint NOT NULL,
	"posted_after" bigint NOT NULL,
	"hold_id" uuid,
	"created_at_ms" bigint NOT NULL,
	CONSTRAINT "transfers_wallet_id_seq_pk" PRIMARY KEY("wallet_id","seq"),
	CONSTRAINT "transfers_amount" CHECK ("transfers"."amount" > 0),
	CONSTRAINT "transfers_accounts" CHECK ("transfers"."debit_account" <> "transfers"."credit_account")
);
--> statement-breakpoint
CREATE TABLE "wallets" (
	"wallet_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"posted" bigint NOT NULL,
	"held" bigint NOT NULL,
	"credit_limit" bigint NOT NULL,
	"state" text COLLATE "C" NOT NULL,
	"last_seq" bigint NOT NULL,
	"created_at_ms" bigint NOT NULL,
	CONSTRAINT "wallets_held" CHECK ("wallets"."held" >= 0)
);
--> statement-breakpoint
CREATE INDEX "api_keys_account" ON "api_keys" USING btree ("account_id");--> statement-breakpoint
CREATE INDEX "holds_open" ON "holds" USING btree ("expires_at_ms") WHERE state = 'held';--> statement-breakpoint
CREATE INDEX "spend_limits_key" ON "spend_limits" USING btree ("wallet_id","key_id");--> statement-breakpoint
CREATE UNIQUE INDEX "transfers_once" ON "transfers" USING btree ("wallet_id","transfer_id","kind");