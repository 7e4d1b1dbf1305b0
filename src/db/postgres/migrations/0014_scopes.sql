ALTER TABLE "holds" ADD COLUMN "scopes" json;--> statement-breakpoint
ALTER TABLE "spend_limits" ADD COLUMN "each_kind" text COLLATE "C";--> statement-breakpoint
CREATE INDEX "limit_counters_period" ON "limit_counters" USING btree ("period_start_ms");--> statement-breakpoint
-- Programs of earlier versions, which may run beside this one, send batch_hold and batch_limit.
CREATE TYPE "batch_scoped_hold" AS (
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
	"metadata" json,
	"scopes" json
);
--> statement-breakpoint
CREATE TYPE "batch_bound_limit" AS (
	"wallet_id" text,
	"limit_id" text,
	"key_id" text,
	"period" text,
	"time_zone" text,
	"amount" bigint,
	"deleted_at_ms" bigint,
	"each_kind" text
);
