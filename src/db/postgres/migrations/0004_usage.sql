CREATE TABLE "usage_cursor" (
	"id" bigint PRIMARY KEY NOT NULL,
	"version" bigint NOT NULL,
	"hours_from_ms" bigint NOT NULL,
	"hours_to_ms" bigint NOT NULL,
	"days_from_ms" bigint NOT NULL,
	"days_to_ms" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "usage_days" (
	"wallet_id" text COLLATE "C" NOT NULL,
	"start_ms" bigint NOT NULL,
	"key_id" text COLLATE "C" NOT NULL,
	"model" text COLLATE "C" NOT NULL,
	"upstream" text COLLATE "C" NOT NULL,
	"outcome" text COLLATE "C" NOT NULL,
	"requests" bigint,
	"settled" bigint,
	"released" bigint,
	"expired" bigint,
	"captured_high" bigint,
	"captured_low" bigint,
	"refunded_high" bigint,
	"refunded_low" bigint,
	"input_tokens_high" bigint,
	"input_tokens_low" bigint,
	"cached_input_tokens_high" bigint,
	"cached_input_tokens_low" bigint,
	"cache_write_tokens_high" bigint,
	"cache_write_tokens_low" bigint,
	"cache_write_1h_tokens_high" bigint,
	"cache_write_1h_tokens_low" bigint,
	"output_tokens_high" bigint,
	"output_tokens_low" bigint,
	"first_output_0" bigint,
	"first_output_1" bigint,
	"first_output_2" bigint,
	"first_output_3" bigint,
	"first_output_4" bigint,
	"first_output_5" bigint,
	"first_output_6" bigint,
	"first_output_7" bigint,
	"first_output_8" bigint,
	"first_output_9" bigint,
	"total_0" bigint,
	"total_1" bigint,
	"total_2" bigint,
	"total_3" bigint,
	"total_4" bigint,
	"total_5" bigint,
	"total_6" bigint,
	"total_7" bigint,
	"total_8" bigint,
	"total_9" bigint
);
--> statement-breakpoint
CREATE TABLE "usage_fence" (
	"id" bigint PRIMARY KEY NOT NULL,
	"fence_ms" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "usage_hours" (
	"wallet_id" text COLLATE "C" NOT NULL,
	"start_ms" bigint NOT NULL,
	"key_id" text COLLATE "C" NOT NULL,
	"model" text COLLATE "C" NOT NULL,
	"upstream" text COLLATE "C" NOT NULL,
	"outcome" text COLLATE "C" NOT NULL,
	"requests" bigint,
	"settled" bigint,
	"released" bigint,
	"expired" bigint,
	"captured_high" bigint,
	"captured_low" bigint,
	"refunded_high" bigint,
	"refunded_low" bigint,
	"input_tokens_high" bigint,
	"input_tokens_low" bigint,
	"cached_input_tokens_high" bigint,
	"cached_input_tokens_low" bigint,
	"cache_write_tokens_high" bigint,
	"cache_write_tokens_low" bigint,
	"cache_write_1h_tokens_high" bigint,
	"cache_write_1h_tokens_low" bigint,
	"output_tokens_high" bigint,
	"output_tokens_low" bigint,
	"first_output_0" bigint,
	"first_output_1" bigint,
	"first_output_2" bigint,
	"first_output_3" bigint,
	"first_output_4" bigint,
	"first_output_5" bigint,
	"first_output_6" bigint,
	"first_output_7" bigint,
	"first_output_8" bigint,
	"first_output_9" bigint,
	"total_0" bigint,
	"total_1" bigint,
	"total_2" bigint,
	"total_3" bigint,
	"total_4" bigint,
	"total_5" bigint,
	"total_6" bigint,
	"total_7" bigint,
	"total_8" bigint,
	"total_9" bigint
);
--> statement-breakpoint
CREATE TABLE "usage_stale" (
	"wallet_id" text COLLATE "C" NOT NULL,
	"start_ms" bigint NOT NULL,
	"changes" bigint NOT NULL,
	CONSTRAINT "usage_stale_wallet_id_start_ms_pk" PRIMARY KEY("wallet_id","start_ms")
);
--> statement-breakpoint
CREATE INDEX "usage_days_wallet" ON "usage_days" USING btree ("wallet_id","start_ms");--> statement-breakpoint
CREATE INDEX "usage_hours_wallet" ON "usage_hours" USING btree ("wallet_id","start_ms");
--> statement-breakpoint
-- Finds the holds of an hour of all wallets, in 1/1000 of the size of an index by id. Ids grow with time.
CREATE INDEX "holds_time" ON "holds" USING brin ("hold_id") WITH (pages_per_range = 32, autosummarize = on);
--> statement-breakpoint
INSERT INTO "usage_cursor" VALUES (1, 1, 0, 0, 0, 0);
--> statement-breakpoint
INSERT INTO "usage_fence" VALUES (1, 0);
--> statement-breakpoint
CREATE TYPE "batch_stale_hour" AS (
	"wallet_id" text,
	"start_ms" bigint,
	"changes" bigint
);
