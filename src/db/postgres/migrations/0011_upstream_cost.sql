ALTER TABLE "accounts" ADD COLUMN "markup" bigint;--> statement-breakpoint
ALTER TABLE "holds" ADD COLUMN "upstream_cost" bigint;--> statement-breakpoint
ALTER TABLE "usage_days" ADD COLUMN "upstream_cost_high" bigint;--> statement-breakpoint
ALTER TABLE "usage_days" ADD COLUMN "upstream_cost_low" bigint;--> statement-breakpoint
ALTER TABLE "usage_days" ADD COLUMN "costed_high" bigint;--> statement-breakpoint
ALTER TABLE "usage_days" ADD COLUMN "costed_low" bigint;--> statement-breakpoint
ALTER TABLE "usage_hours" ADD COLUMN "upstream_cost_high" bigint;--> statement-breakpoint
ALTER TABLE "usage_hours" ADD COLUMN "upstream_cost_low" bigint;--> statement-breakpoint
ALTER TABLE "usage_hours" ADD COLUMN "costed_high" bigint;--> statement-breakpoint
ALTER TABLE "usage_hours" ADD COLUMN "costed_low" bigint;--> statement-breakpoint
ALTER TABLE "usage_total_days" ADD COLUMN "upstream_cost_high" bigint;--> statement-breakpoint
ALTER TABLE "usage_total_days" ADD COLUMN "upstream_cost_low" bigint;--> statement-breakpoint
ALTER TABLE "usage_total_days" ADD COLUMN "costed_high" bigint;--> statement-breakpoint
ALTER TABLE "usage_total_days" ADD COLUMN "costed_low" bigint;--> statement-breakpoint
ALTER TABLE "usage_total_hours" ADD COLUMN "upstream_cost_high" bigint;--> statement-breakpoint
ALTER TABLE "usage_total_hours" ADD COLUMN "upstream_cost_low" bigint;--> statement-breakpoint
ALTER TABLE "usage_total_hours" ADD COLUMN "costed_high" bigint;--> statement-breakpoint
ALTER TABLE "usage_total_hours" ADD COLUMN "costed_low" bigint;--> statement-breakpoint
ALTER TABLE "dropped_receipts" ADD COLUMN "upstream_cost_high" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "dropped_receipts" ADD COLUMN "upstream_cost_low" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "dropped_receipts" ADD COLUMN "costed_high" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "dropped_receipts" ADD COLUMN "costed_low" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
-- Beside batch_hold_ending, which replicas of the version before go on to use.
CREATE TYPE "batch_hold_end" AS (
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
	"settle_metadata" json,
	"upstream_cost" bigint
);
