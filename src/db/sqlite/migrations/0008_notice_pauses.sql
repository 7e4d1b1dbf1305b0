ALTER TABLE `notice_rules` ADD `paused_at_ms` integer;--> statement-breakpoint
ALTER TABLE `webhook_calls` ADD `last_status` integer;