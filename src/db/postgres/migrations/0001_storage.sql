-- Holds of months that have no partition of their own; those are made as time goes on.
CREATE TABLE "holds_default" PARTITION OF "holds" DEFAULT;
--> statement-breakpoint
-- Rows that change with every batch: room on the page keeps their new versions beside them.
ALTER TABLE "wallets" SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);
--> statement-breakpoint
ALTER TABLE "limit_counters" SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);
--> statement-breakpoint
CREATE FUNCTION "refuse_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RAISE EXCEPTION 'transfers are append-only';
END;
$$;
--> statement-breakpoint
CREATE TRIGGER "transfers_never_change" BEFORE UPDATE OR DELETE OR TRUNCATE ON "transfers"
FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change"();
--> statement-breakpoint
-- The rows of a batch, as they are sent: what a batch writes to a table arrives as one array.
CREATE TYPE "batch_wallet" AS (
	"wallet_id" text,
	"posted" bigint,
	"held" bigint,
	"credit_limit" bigint,
	"state" text,
	"last_seq" bigint,
	"created_at_ms" bigint
);
--> statement-breakpoint
CREATE TYPE "batch_hold" AS (
	"wallet_id" text,
	"hold_id" uuid,
	"state" text,
	"late" boolean,
	"accrued" bigint,
	"actual" bigint,
	"captured" bigint,
	"refunded" bigint,
	"expires_at_ms" bigint,
	"resolved_at_ms" bigint,
	"key_id" text,
	"requested" bigint,
	"minimum" bigint,
	"granted" bigint,
	"ttl_ms" bigint,
	"created_at_ms" bigint,
	"limits" json,
	"surface" text,
	"model" text,
	"metadata" json
);
--> statement-breakpoint
CREATE TYPE "batch_hold_state" AS (
	"wallet_id" text,
	"hold_id" uuid,
	"state" text,
	"late" boolean,
	"accrued" bigint,
	"actual" bigint,
	"captured" bigint,
	"refunded" bigint,
	"expires_at_ms" bigint,
	"resolved_at_ms" bigint
);
--> statement-breakpoint
CREATE TYPE "batch_hold_ending" AS (
	"wallet_id" text,
	"hold_id" uuid,
	"state" text,
	"late" boolean,
	"accrued" bigint,
	"actual" bigint,
	"captured" bigint,
	"refunded" bigint,
	"expires_at_ms" bigint,
	"resolved_at_ms" bigint,
	"outcome" text,
	"source" text,
	"upstream" text,
	"upstream_model" text,
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
	"settle_metadata" json
);
--> statement-breakpoint
CREATE TYPE "batch_transfer" AS (
	"wallet_id" text,
	"seq" bigint,
	"transfer_id" text,
	"kind" smallint,
	"debit_account" smallint,
	"credit_account" smallint,
	"amount" bigint,
	"posted_after" bigint,
	"hold_id" uuid,
	"created_at_ms" bigint
);
--> statement-breakpoint
CREATE TYPE "batch_counter" AS (
	"wallet_id" text,
	"limit_id" text,
	"period_start_ms" bigint,
	"used" bigint,
	"held" bigint
);
--> statement-breakpoint
CREATE TYPE "batch_limit" AS (
	"wallet_id" text,
	"limit_id" text,
	"key_id" text,
	"period" text,
	"time_zone" text,
	"amount" bigint,
	"deleted_at_ms" bigint
);
