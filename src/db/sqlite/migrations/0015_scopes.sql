ALTER TABLE `holds` ADD `scopes` text;--> statement-breakpoint
ALTER TABLE `spend_limits` ADD `each_kind` text;--> statement-breakpoint
CREATE INDEX `limit_counters_period` ON `limit_counters` (`period_start_ms`);
