CREATE TABLE "credits" (
	"wallet_id" text COLLATE "C" NOT NULL,
	"seq" bigint NOT NULL,
	"credit_id" text COLLATE "C" NOT NULL,
	"source" text COLLATE "C" NOT NULL,
	"amount" bigint NOT NULL,
	"left_amount" bigint NOT NULL,
	"expired" bigint NOT NULL,
	"expires_at_ms" bigint,
	"created_at_ms" bigint NOT NULL,
	"claims" bigint,
	"ended_at_ms" bigint,
	"live" boolean NOT NULL,
	CONSTRAINT "credits_wallet_id_seq_pk" PRIMARY KEY("wallet_id","seq"),
	CONSTRAINT "credits_left" CHECK ("credits"."left_amount" >= 0 AND "credits"."expired" >= 0)
);
--> statement-breakpoint
ALTER TABLE "transfers" ADD COLUMN "credits" json;--> statement-breakpoint
ALTER TABLE "wallets" ADD COLUMN "newest_credit" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "wallets" ADD COLUMN "mixed" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "wallets" ADD COLUMN "newest_hold_ms" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX "credits_live" ON "credits" USING btree ("wallet_id") WHERE live;--> statement-breakpoint
CREATE INDEX "credits_due" ON "credits" USING btree ("expires_at_ms") WHERE live AND claims IS NULL;--> statement-breakpoint
CREATE INDEX "transfers_charges" ON "transfers" USING btree ("wallet_id","hold_id") WHERE kind = 6;--> statement-breakpoint
ALTER TABLE "credits" SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);
--> statement-breakpoint
-- Programs of earlier versions, which may run beside this one, send batch_wallet and batch_transfer.
CREATE TYPE "batch_credit_wallet" AS (
	"wallet_id" text,
	"posted" bigint,
	"held" bigint,
	"credit_limit" bigint,
	"state" text,
	"last_seq" bigint,
	"newest_credit" bigint,
	"mixed" boolean,
	"newest_hold_ms" bigint,
	"created_at_ms" bigint
);
--> statement-breakpoint
CREATE TYPE "batch_credit_transfer" AS (
	"wallet_id" text,
	"seq" bigint,
	"transfer_id" text,
	"kind" smallint,
	"debit_account" smallint,
	"credit_account" smallint,
	"amount" bigint,
	"posted_after" bigint,
	"hold_id" uuid,
	"created_at_ms" bigint,
	"credits" json
);
--> statement-breakpoint
CREATE TYPE "batch_credit" AS (
	"wallet_id" text,
	"seq" bigint,
	"left_amount" bigint,
	"expired" bigint,
	"claims" bigint,
	"ended_at_ms" bigint,
	"live" boolean,
	"credit_id" text,
	"source" text,
	"amount" bigint,
	"expires_at_ms" bigint,
	"created_at_ms" bigint
);
