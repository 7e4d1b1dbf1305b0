CREATE TABLE "dropped_counters" (
	"wallet_id" text COLLATE "C" NOT NULL,
	"limit_id" text COLLATE "C" NOT NULL,
	"period_start_ms" bigint NOT NULL,
	"used" bigint NOT NULL,
	CONSTRAINT "dropped_counters_wallet_id_limit_id_period_start_ms_pk" PRIMARY KEY("wallet_id","limit_id","period_start_ms")
);
--> statement-breakpoint
CREATE TABLE "dropped_receipts" (
	"wallet_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"receipts" bigint NOT NULL,
	"captured_high" bigint NOT NULL,
	"captured_low" bigint NOT NULL,
	"refunded_high" bigint NOT NULL,
	"refunded_low" bigint NOT NULL,
	"above_high" bigint NOT NULL,
	"above_low" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "retention" (
	"id" bigint PRIMARY KEY NOT NULL,
	"receipts_from_ms" bigint NOT NULL,
	"cleared_to_ms" bigint NOT NULL,
	"seen_at_ms" bigint NOT NULL,
	"paused_until_ms" bigint NOT NULL
);
--> statement-breakpoint
INSERT INTO "retention" VALUES (1, 0, 0, 0, 0);
