ALTER TABLE "redeem_codes" ADD COLUMN "source" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "redeem_codes" ADD COLUMN "credit_days" bigint;