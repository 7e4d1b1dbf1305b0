ALTER TABLE "notice_rules" ADD COLUMN "paused_at_ms" bigint;--> statement-breakpoint
ALTER TABLE "webhook_calls" ADD COLUMN "last_status" bigint;